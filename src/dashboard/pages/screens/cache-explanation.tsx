/** Shows the cache decision for a question, its reason, and the nearest cached questions for comparison. */
import { describeMismatch, describeReason } from '../../../cache/reasons.ts'
import { Badge, Card } from '../components/elements.tsx'
import { isolateDirection } from '../format.ts'
import { type CacheExplanation, listWordingDifferences } from '../send-chat.ts'
import { QuestionComparison } from './question-comparison.tsx'
import { ResultBadge } from './result-badge.tsx'

const PROOFS: Record<string, string> = { normalized: 'Same text', verified: 'Verified' }
const isServable = (proof: string) => proof in PROOFS

export function CacheExplanationCard({ explanation, question }: { explanation: CacheExplanation; question: string }) {
  const { decision, nearest, semantic } = explanation
  return (
    <Card title="Cache decision">
      <div className="space-y-2 p-4">
        <p className="flex flex-wrap items-center gap-2">
          <ResultBadge result={decision.cache} />
          <span>{describeReason(decision.reason)}</span>
        </p>
        {semantic && (
          <p className="text-xs text-muted">
            Normalized to <q className="text-ink [overflow-wrap:anywhere]">{isolateDirection(semantic.normalized)}</q>.
            Match policy: {semantic.policy}, similarity threshold {semantic.threshold}.
            {semantic.instructions_hash &&
              ` In this context (${semantic.instructions_hash}), the wording ${semantic.wording_matters ? 'matters' : 'does not matter'}.`}
          </p>
        )}
      </div>
      {nearest.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {nearest.map(row => (
            <li key={row.id} className="space-y-2.5 px-4 py-3">
              <p className="flex flex-wrap items-center gap-2">
                <span className="font-semibold tabular-nums">{row.similarity.toFixed(4)}</span>
                <Badge look={isServable(row.proof) ? 'good' : 'warn'}>
                  {PROOFS[row.proof] ?? describeMismatch(row.proof)}
                </Badge>
                {row.verdict && (
                  <Badge look={row.verdict.verdict === 'same' ? 'good' : 'bad'}>
                    {row.verdict.source === 'person' ? 'Person' : 'Judge'}: {row.verdict.verdict}
                  </Badge>
                )}
              </p>
              {row.objections.length > 0 && !isServable(row.proof) && (
                <p className="text-xs text-muted">
                  Most against it: {row.objections.map(({ number, effect }) => `${number} (${effect})`).join(', ')}.
                </p>
              )}
              {row.text === null ? (
                <p className="text-xs text-muted">The text is not shown because the question belongs to another key.</p>
              ) : (
                <QuestionComparison
                  wordings={{ asked: question, cached: row.text, differences: listWordingDifferences(row) }}
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
