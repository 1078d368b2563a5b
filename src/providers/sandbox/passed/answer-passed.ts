/** The sandbox's responses to pass-through operations: images, speech, moderations, rankings. */
import { unsupportedPath } from '../../unsupported-endpoint.ts'
import type { PassedRequest, UpstreamAnswer } from '../../upstream.ts'
import { moderate } from './moderations.ts'
import { makePictures } from './pictures.ts'
import { rank } from './rank.ts'
import type { SandboxAnswer } from './sandbox-answer.ts'
import { speak } from './speak.ts'

type Fields = Record<string, unknown>

const json = (answer: (fields: Fields) => Fields) => (fields: Fields) => ({
  contentType: 'application/json',
  body: JSON.stringify(answer(fields)),
})

const ANSWERS: Record<string, (fields: Fields) => SandboxAnswer> = {
  '/images/generations': fields => makePictures(fields, 'image_generation', true),
  '/images/edits': fields => makePictures(fields, 'image_edit', true),
  '/images/variations': fields => makePictures(fields, 'image_edit', false),
  '/audio/speech': speak,
  '/moderations': json(moderate),
  '/rerank': json(rank),
}

/** The paths that it answers. */
export const SANDBOX_PASSES: readonly string[] = Object.keys(ANSWERS)

/** Throws a 400 for what OpenAI would refuse, and a 404 for an operation that the sandbox lacks. */
export async function answerPassed({ path, body }: PassedRequest): Promise<UpstreamAnswer> {
  const answer = ANSWERS[path]
  if (!answer) throw unsupportedPath('The sandbox, which answers test keys,', path)
  const { contentType, body: written } = answer(body?.fields ?? {})
  return { status: 200, headers: new Headers({ 'content-type': contentType }), body: new Blob([written]).stream() }
}
