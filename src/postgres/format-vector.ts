/** Vectors as pgvector's text. */
import { toSql } from 'pgvector'

/** The greatest whole number below which a half holds every one exactly. */
const GREATEST = 2_047

/**
 * Scaled to whole numbers: cosine similarity does not mind the scale, and the text is a fifth as long to write, send and read.
 * For vectors that are compared by cosine alone, never given out.
 */
export function formatVector(vector: Float32Array): string {
  // Loops by index: iterators take three times as long, and every miss formats one.
  let greatest = 0
  for (let i = 0; i < vector.length; i++) greatest = Math.max(greatest, Math.abs(vector[i] as number))
  const scale = greatest === 0 ? 0 : GREATEST / greatest
  const scaled = new Array<number>(vector.length)
  for (let i = 0; i < vector.length; i++) scaled[i] = Math.round((vector[i] as number) * scale)
  return toSql(scaled) as string
}
