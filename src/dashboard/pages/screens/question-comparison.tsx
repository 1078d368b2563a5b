/** Shows a question and a cached question, one below the other, with their differences highlighted. */
import type { ReactNode } from 'react'
import { describeMismatch } from '../../../cache/reasons.ts'
import { escapeControlCharacters } from '../format.ts'
import type { QuestionPair, WordingDifference } from '../types.ts'

export function QuestionComparison({ wordings }: { wordings: QuestionPair }) {
  const { asked, cached } = wordings
  const differences = mergeDifferences(wordings)
  return (
    <div>
      <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[4.5rem_1fr]">
        <dt className="pt-0.5 text-xs text-muted">Request</dt>
        <dd dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {mark(asked, differences, difference => [difference.asked_at, difference.asked_text])}
        </dd>
        <dt className="pt-0.5 text-xs text-muted">Cached</dt>
        <dd dir="auto" className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
          {mark(cached, differences, difference => [difference.cached_at, difference.cached_text])}
        </dd>
      </dl>
      <ul className="mt-2.5 flex flex-wrap gap-1.5 text-xs sm:pl-[5.5rem]">
        {differences.map(difference => (
          <li
            key={`${difference.asked_at} ${difference.cached_at} ${difference.kind}`}
            className={`min-w-0 rounded-md px-2 py-0.5 [overflow-wrap:anywhere] ${difference.harmless ? 'bg-accent-soft text-accent-strong' : 'bg-danger-soft text-danger'}`}
          >
            <bdi>{shorten(difference.asked_text)}</bdi> / <bdi>{shorten(difference.cached_text)}</bdi>:{' '}
            <b className="font-medium">{describeMismatch(difference.kind)}</b>
          </li>
        ))}
        {differences.length === 0 && <li className="text-muted">The words are identical.</li>}
      </ul>
    </div>
  )
}

/** Merges differences at the same position. White space is listed only when nothing else differs. */
function mergeDifferences({ asked, cached, differences }: QuestionPair): WordingDifference[] {
  const merged: WordingDifference[] = []
  const visible = differences.filter(({ asked_text, cached_text }) => (asked_text + cached_text).trim() !== '')
  for (const next of visible.length > 0 ? visible : differences) {
    const before = merged.at(-1)
    const isSamePosition =
      before !== undefined &&
      ((next.cached_at === before.cached_at && next.cached_text === before.cached_text && next.cached_text !== '') ||
        (next.asked_at === before.asked_at && next.asked_text === before.asked_text && next.asked_text !== ''))
    if (!isSamePosition) {
      merged.push(next)
      continue
    }
    merged[merged.length - 1] = {
      ...before,
      harmless: before.harmless && next.harmless,
      asked_text: asked.slice(before.asked_at, next.asked_at + next.asked_text.length),
      cached_text: cached.slice(before.cached_at, next.cached_at + next.cached_text.length),
    }
  }
  return merged
}

const MAX_SHOWN_CHARS = 32

function shorten(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '') return text === '' ? '–' : '␣'
  return escapeControlCharacters(trimmed.length > MAX_SHOWN_CHARS ? `${trimmed.slice(0, MAX_SHOWN_CHARS)}…` : trimmed)
}

/** Highlights the differences in one of the two texts. */
function mark(
  text: string,
  differences: readonly WordingDifference[],
  positionOf: (difference: WordingDifference) => [at: number, text: string],
): ReactNode[] {
  const parts: ReactNode[] = []
  let end = 0
  for (const difference of differences) {
    const [at, marked] = positionOf(difference)
    // Several differences can share a position in this text. It is highlighted once.
    if (marked === '' || at < end) continue
    parts.push(escapeControlCharacters(text.slice(end, at)))
    end = at + marked.length
    parts.push(
      <mark
        key={at}
        className={`rounded-sm px-0.5 ${difference.harmless ? 'bg-accent-soft text-accent-strong' : 'bg-danger-soft text-danger'}`}
      >
        {escapeControlCharacters(text.slice(at, end))}
      </mark>,
    )
  }
  parts.push(escapeControlCharacters(text.slice(end)))
  return parts
}
