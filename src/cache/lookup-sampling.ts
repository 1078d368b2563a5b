/** Sampling of lookups below the threshold. It shows what another threshold or a judge would serve. */

/** Share of lookups that are sampled. */
export const LOOKUP_SAMPLE_RATE = 12 / 256
/** Lowest similarity that a sampled lookup searches for. */
export const MIN_SAMPLED_SIMILARITY = 0.8
