/** Lists the response headers that describe what happened. Pages of other origins may read them, and docs/http.md lists them. */

/** Header names that share one description, and the description, for docs/http.md. */
export const EXPOSED_HEADERS: readonly (readonly [names: readonly string[], description: string])[] = [
  [
    ['X-Proxy-Cache'],
    '`HIT` (an identical request was answered before, or is in flight), `HIT-SEMANTIC` (a request with the same meaning), `MISS`',
  ],
  [['X-Proxy-Cache-Age'], 'seconds since the response was stored'],
  [['X-Proxy-Cache-Similarity'], 'on semantic hits: the verifier’s score; the cosine under the policy `threshold`'],
  [
    ['X-Proxy-Cache-Id', 'X-Proxy-Cache-Reason'],
    'the cache entry that was served, and [the reason](#cache-reasons), or the reason for a miss',
  ],
  [['X-Proxy-Cache-Near-Miss'], 'on misses: the entry that [feedback](semantic-cache.md#feedback) may mark as *right*'],
  [['X-Proxy-Cache-Scope'], 'on hits: [who shares the response](sharing.md), `project`, `key` or `user`'],
  [
    ['X-Proxy-Cost-USD'],
    'estimated cost; 0 on a hit, except for the cost of a judge. On a streamed miss, an estimate from the prompt; the final cost is in the records',
  ],
  [['X-Proxy-Cost-Unknown'], '`true` where there is no price'],
  [
    ['X-Proxy-Budget-Remaining-USD'],
    'on misses where a [budget](budgets.md) in US dollars applies: the smallest remaining amount',
  ],
  [['X-Proxy-Latency-Ms'], 'from arrival to response headers'],
  [['X-Proxy-Provider'], 'the provider of the response, or of its first part'],
  [['X-Proxy-Model'], 'the model, if the request named an [alias](providers.md#aliases) or a fallback responded'],
  [['X-Proxy-Provider-Key'], 'the key, where there are [several](providers.md#several-keys-of-one-provider)'],
  [
    ['Proxy-Status'],
    'where an attempt failed: [the attempts](providers.md#attempts) of the request, after RFC 9209. Not on a stream whose headers were sent before',
  ],
  [['X-Proxy-Dropped-Tools'], 'tools that were omitted because the model’s provider cannot run them'],
  [
    ['X-Proxy-Omitted'],
    'kinds of content that were omitted, because the client’s format or the model does not support them: `compaction`, `images`, `annotations`. A stream names those of its response in a comment before its last event, `: x-proxy-omitted: images`, Gemini’s in `finishMessage`; such a response is not stored',
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
  [['Retry-After'], 'seconds to wait before trying again'],
  [['X-Should-Retry'], '`false` if trying again cannot succeed'],
  [['X-Request-Id'], 'the client’s if it is well formed, else a generated one'],
]
