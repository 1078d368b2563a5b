/** The headers by which answers tell what happened: pages of other origins may read them, and docs/http.md lists them. */

/** Names of those of which one thing is said, and what. */
export const EXPOSED_HEADERS: readonly (readonly [names: readonly string[], says: string])[] = [
  [
    ['X-Proxy-Cache'],
    '`HIT` (the same request was answered before, or is in flight), `HIT-SEMANTIC` (a question that asks the same), `MISS`',
  ],
  [['X-Proxy-Cache-Age'], 'seconds since the answer was stored'],
  [['X-Proxy-Cache-Similarity'], 'on semantic hits: cosine similarity'],
  [
    ['X-Proxy-Cache-Id', 'X-Proxy-Cache-Reason'],
    'the entry that was served, and [why](#reasons), or why there was none',
  ],
  [['X-Proxy-Cache-Near-Miss'], 'on misses: the entry that [feedback](semantic-cache.md#people) may call *right*'],
  [['X-Proxy-Cache-Scope'], 'on hits: [who shares the answer](sharing.md), `project`, `key` or `user`'],
  [
    ['X-Proxy-Cost-USD'],
    'estimated cost; 0 on a hit, except for the cost of a judge. On a streamed miss, an estimate from the prompt; the final cost is in the records',
  ],
  [['X-Proxy-Cost-Unknown'], '`true` where there is no price'],
  [
    ['X-Proxy-Budget-Remaining-USD'],
    'on misses where a [budget](budgets.md) in US dollars applies: what is left of the narrowest',
  ],
  [['X-Proxy-Latency-Ms'], 'from arrival to response headers'],
  [['X-Proxy-Provider'], 'the provider that answered, or first answered'],
  [['X-Proxy-Model'], 'the model, where the request named an [alias](providers.md#aliases) or a fallback answered'],
  [['X-Proxy-Provider-Key'], 'the key, where there are [several](providers.md#several-keys-of-one-provider)'],
  [['X-Proxy-Dropped-Tools'], 'tools that the model’s provider cannot run, and was not told of'],
  [
    ['X-Proxy-Omitted'],
    'kinds of content that were omitted, because the client’s format, or the model, has no place for them: `compaction`, `images`, `annotations`. A stream names those of its response in a comment before its last event, `: x-proxy-omitted: images`; such a response is not stored',
  ],
  [['X-Proxy-Tokens-Saved'], 'prompt tokens served from the cache'],
  [
    ['X-RateLimit-Limit-Requests', 'X-RateLimit-Remaining-Requests', 'X-RateLimit-Reset-Requests'],
    'the key’s requests a minute',
  ],
  [
    ['X-RateLimit-Limit-Tokens', 'X-RateLimit-Remaining-Tokens', 'X-RateLimit-Reset-Tokens'],
    'its [tokens a minute](operating.md#limits), where they are limited',
  ],
  [['Retry-After'], 'after how many seconds to try again'],
  [['X-Should-Retry'], '`false` where trying again is of no use'],
  [['X-Request-Id'], 'the client’s if it is well formed, else a generated one'],
]
