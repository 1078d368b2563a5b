/** What is looked at below the threshold, so that people see what another threshold, or a judge, would serve. */

/** Of the questions. */
export const SAMPLED_SHARE = 12 / 256
/** The lowest similarity. */
export const LOWEST_SAMPLED = 0.8
