/** The correlator for modules: of the worker and of the panel. */

import "../../content/shared/correlator.js";

export const Correlator = TabhubCorrelator;
