/** What the cache would do with a question and why: the decision, and the nearest stored questions for comparison. */
import type { PlainMissReason } from '../../../cache/entry.ts'
import { type Explanation, toDifferences } from '../ask-model.ts'
import { Badge, Card } from '../components/basics.tsx'
import { isolated } from '../format.ts'
import { ResultBadge } from './result-badge.tsx'
import { nameDifference, WordingPair } from './wording-pair.tsx'

const REASONS: Readonly<Record<PlainMissReason, string> & Record<string, string>> = {
  exact: 'Exactly this request is stored.',
  normalized: 'A stored question has the same wording, but for how it is written.',
  verified: 'A stored question is similar, and nothing speaks against it.',
  judged: 'A person, or the judge, confirmed a stored question to be the same.',
  threshold: 'A stored question is similar enough.',
  'no-candidate': 'Nothing that is stored is comparable.',
  'below-threshold': 'Nothing that is stored is similar enough.',
  'unverified:verdict': 'A person called it different from the nearest stored question.',
  'unproved:verdict': 'A person called it different from the nearest stored question.',
  fresh: 'It asks about the present, so an earlier answer may be outdated.',
  action: 'It asks for something to be done.',
  'no-store': 'The request forbids a cached answer.',
  shadow: 'The project is in shadow mode: it would have been a hit.',
  off: 'The project’s settings exclude it from the cache.',
  tools: 'Its answer may call tools.',
  coalesced: 'The same request was being answered at that moment.',
}

const PROOFS: Record<string, string> = { normalized: 'Equal but for how it is written', verified: 'Verified' }
const serves = (proof: string) => proof in PROOFS

/** A cache reason in words. */
export function explainReason(reason: string): string {
  const kind = /^un(?:proved|verified):(.+)$/.exec(reason)?.[1]
  return REASONS[reason] ?? (kind ? `The nearest stored question differs: ${nameDifference(kind)}.` : reason)
}

export function Explained({ explanation, asked }: { explanation: Explanation; asked: string }) {
  const { decision, nearest, semantic } = explanation
  return (
    <Card title="How the cache decides">
      <div className="space-y-2 p-4">
        <p className="flex flex-wrap items-center gap-2">
          <ResultBadge result={decision.cache} />
          <span>{explainReason(decision.reason)}</span>
        </p>
        {semantic && (
          <p className="text-xs text-muted">
            Normalized to <q className="text-ink [overflow-wrap:anywhere]">{isolated(semantic.normalized)}</q>; policy{' '}
            {semantic.policy}, similarity threshold {semantic.threshold}.
          </p>
        )}
      </div>
      {nearest.length > 0 && (
        <ul className="divide-y divide-line border-t border-line">
          {nearest.map(row => (
            <li key={row.id} className="space-y-2.5 px-4 py-3">
              <p className="flex flex-wrap items-center gap-2">
                <span className="font-semibold tabular-nums">{row.similarity.toFixed(4)}</span>
                <Badge look={serves(row.proof) ? 'good' : 'warn'}>
                  {PROOFS[row.proof] ?? nameDifference(row.proof)}
                </Badge>
                {row.verdict && (
                  <Badge look={row.verdict.verdict === 'same' ? 'good' : 'bad'}>
                    {row.verdict.source === 'person' ? 'A person' : 'The judge'}: {row.verdict.verdict}
                  </Badge>
                )}
              </p>
              <WordingPair wordings={{ asked, cached: row.text, differences: toDifferences(row) }} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
