/** Shows how the cache compared a request's question with others, as it was recorded when the request was served. */
import { Link } from '@tanstack/react-router'
import { describeMismatch } from '../../../cache/reasons.ts'
import type { RequestLogEntry } from '../types.ts'
import { DetailItem } from './request-cost.tsx'

type Decision = NonNullable<RequestLogEntry['cache_decision']>

const SCOPES: Record<string, string> = {
  project: 'all keys of the project',
  key: 'the same API key',
  user: 'the same end user',
}

/** Pairs from here on are listed on the Cache page. */
const LISTED_FROM = 0.8

export function CacheDecision({ request, projectId }: { request: RequestLogEntry; projectId: string }) {
  const { similarity, cache_decision: decision } = request
  const isHit = request.cache_result === 'HIT-SEMANTIC'
  if (similarity === null) return null
  const isListed = isHit || Math.max(similarity, decision?.cosine ?? 0) >= LISTED_FROM
  return (
    <>
      <DetailItem title="Similarity">
        {similarity.toFixed(4)}
        {decision && ` of more than ${decision.threshold} that the policy ${describePolicy(decision)} requires`}{' '}
        {isListed && (
          <Link
            to={`/${projectId}/cache` as never}
            search={{ ...(isHit ? {} : { view: 'near-misses' }), request: request.request_id } as never}
            className="font-medium text-accent underline"
          >
            Compare questions
          </Link>
        )}
      </DetailItem>
      {decision && <Comparison decision={decision} />}
    </>
  )
}

const describePolicy = ({ policy, risk }: Decision) => (risk === null ? policy : `${policy}, ${risk},`)

function Comparison({ decision: { compared, cosine, scope, veto, verdict, objections } }: { decision: Decision }) {
  return (
    <>
      <DetailItem title="Compared with">
        {compared === 1 ? 'One cached question' : `The ${compared} nearest cached questions`} of{' '}
        {SCOPES[scope] ?? scope}
        {cosine !== null && `; the texts look ${Math.round(100 * cosine)} % alike`}
      </DetailItem>
      {veto !== null && (
        <DetailItem title="Ruled out by">
          {veto === 'prose' ? 'One of the texts is not a plain question' : `A difference: ${describeMismatch(veto)}`}
        </DetailItem>
      )}
      {verdict !== null && <DetailItem title="Verdict">{verdict}</DetailItem>}
      {objections.length > 0 && (
        <DetailItem title="Most against it">
          {objections.map(({ number, effect }) => `${number} (${effect})`).join(', ')}
        </DetailItem>
      )}
    </>
  )
}
