/** Formats vectors as pgvector's text. */
import { toSql } from 'pgvector'

/** The largest integer up to which a half-precision float holds every integer exactly. */
const GREATEST = 2_047

/**
 * Scaled to integers: cosine similarity does not depend on the scale, and the text is a fifth as long. For vectors that are only compared
 * by cosine, never returned.
 */
export function formatVector(vector: Float32Array): string {
  // Loops by index, because iterators take three times as long and every miss formats a vector.
  let greatest = 0
  for (let i = 0; i < vector.length; i++) greatest = Math.max(greatest, Math.abs(vector[i] as number))
  const scale = greatest === 0 ? 0 : GREATEST / greatest
  const scaled = new Array<number>(vector.length)
  for (let i = 0; i < vector.length; i++) scaled[i] = Math.round((vector[i] as number) * scale)
  return toSql(scaled) as string
}
