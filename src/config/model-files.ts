/** Finds the files of an ONNX model in a folder, before anything loads them. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** File names in order of preference. An int8 model is equally accurate for this purpose and a quarter of the size. */
const MODEL_NAMES = ['model.onnx', 'model_int8.onnx', 'model_quantized.onnx', 'model_uint8.onnx']

/** Returns a description of what the folder lacks, as the predicate of "it"; null when the folder is complete. */
export function findModelFolderProblem(folder: string): string | null {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return 'is not a folder'
  if (!findModelFile(folder)) return 'holds no .onnx file'
  return existsSync(join(folder, 'tokenizer.json')) ? null : 'holds no tokenizer.json'
}

export function findModelFile(folder: string): string | null {
  const folders = [folder, join(folder, 'onnx')]
  for (const name of MODEL_NAMES) {
    const found = folders.map(path => join(path, name)).find(file => existsSync(file))
    if (found) return found
  }
  const others = folders.filter(path => existsSync(path)).flatMap(path => readdirSync(path).map(n => join(path, n)))
  return others.toSorted().find(file => file.endsWith('.onnx')) ?? null
}
