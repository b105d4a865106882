/** Match patterns as a module. */

import "../../content/shared/match-patterns.js";

export const isMatch = tabhubIsMatch;
