/** Finds what runs a model. It is large, and installed only for those who want it: beside the program, or in the model's folder. */
import { join } from 'node:path'

/** In the model's folder. */
export const RUNTIME_FOLDER = 'runtime'

export interface ModelRuntime {
  onnx: string
  tokenizers: string
}

/** Paths of its modules; null when it is not installed. */
export function findModelRuntime(modelFolder: string): ModelRuntime | null {
  for (const from of [import.meta.dir, join(modelFolder, RUNTIME_FOLDER)]) {
    try {
      return {
        onnx: Bun.resolveSync('onnxruntime-node', from),
        tokenizers: Bun.resolveSync('@huggingface/tokenizers', from),
      }
    } catch {}
  }
  return null
}
