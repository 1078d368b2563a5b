import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readModelFolder } from '../../../../../src/cache/embedders/local/model-folder.ts'
import { createTemporaryDirectory } from '../../../../harness/temporary-directory.ts'

const root = createTemporaryDirectory()

/** Creates a model directory. Strings are written as they are, other values as JSON. */
async function folderWith(name: string, files: Record<string, unknown>): Promise<string> {
  const folder = join(root, name)
  await mkdir(folder, { recursive: true })
  for (const [path, value] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), typeof value === 'string' ? value : JSON.stringify(value))
  }
  return folder
}

const bare = { 'model.onnx': '', 'tokenizer.json': {} }

test('finds the weights in the layouts of model hubs, full weights before quantized ones', async () => {
  const nested = await folderWith('nested', {
    'onnx/model_quantized.onnx': '',
    'onnx/zoo.onnx': '',
    'tokenizer.json': {},
  })
  expect(readModelFolder(nested).modelFile).toBe(join(nested, 'onnx', 'model_quantized.onnx'))
  await folderWith('nested', { 'onnx/model.onnx': '' })
  expect(readModelFolder(nested).modelFile).toBe(join(nested, 'onnx', 'model.onnx'))
  const other = await folderWith('other', { 'tuned.onnx': '', 'tokenizer.json': {} })
  expect(readModelFolder(other).modelFile).toBe(join(other, 'tuned.onnx'))
})

describe('reads how the model embeds a text', () => {
  test('for MiniLM: the mean, no prefix, its own length', async () => {
    const folder = await folderWith('all-MiniLM-L6-v2', {
      ...bare,
      '1_Pooling/config.json': { pooling_mode_cls_token: false, pooling_mode_mean_tokens: true },
      'sentence_bert_config.json': { max_seq_length: 128 },
      'config.json': { max_position_embeddings: 512 },
    })
    expect(readModelFolder(folder).recipe).toEqual({ pooling: 'mean', prefix: '', maxTokens: 128 })
  })

  test('for E5: its prefix, known by the directory’s or the model’s name', async () => {
    const e5 = { pooling: 'mean', prefix: 'query: ', maxTokens: 256 }
    expect(readModelFolder(await folderWith('multilingual-e5-small', bare)).recipe).toEqual(e5)
    const named = await folderWith('model-1', { ...bare, 'config.json': { _name_or_path: 'intfloat/E5-base-v2' } })
    expect(readModelFolder(named).recipe).toEqual(e5)
  })

  test('for BGE: the first token, configured or known by name', async () => {
    const bge = { pooling: 'cls', prefix: '', maxTokens: 256 }
    expect(readModelFolder(await folderWith('bge-small-en-v1.5', bare)).recipe).toEqual(bge)
    const pooled = await folderWith('model-2', { ...bare, '1_Pooling/config.json': { pooling_mode_cls_token: true } })
    expect(readModelFolder(pooled).recipe).toEqual(bge)
  })

  test('for any model: the default prompt of sentence-transformers', async () => {
    const prompts = { query: 'Instruct: ', document: '' }
    const chosen = { default_prompt_name: 'query', prompts }
    const folder = await folderWith('chosen', { ...bare, 'config_sentence_transformers.json': chosen })
    expect(readModelFolder(folder).recipe.prefix).toBe('Instruct: ')
    const none = await folderWith('not-chosen', { ...bare, 'config_sentence_transformers.json': { prompts } })
    expect(readModelFolder(none).recipe.prefix).toBe('')
  })

  test('names a file that it cannot read', async () => {
    const folder = await folderWith('broken', { ...bare, 'config.json': '{' })
    expect(() => readModelFolder(folder)).toThrow('config.json must be a readable JSON file')
  })
})
