/** The correlator as a module, for the worker and the panel. */

import "../../content/shared/correlator.js";

export const Correlator = TabhubCorrelator;
