/** Builds the pages' files with Bun's bundler, and compresses them. Nothing is fetched from the network. */
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

export type ContentEncoding = 'identity' | 'gzip' | 'br'

/** A file as it is served. Its name ends in a content hash, except for index.html. */
export interface Asset {
  name: string
  type: string
  encoded: Record<ContentEncoding, Uint8Array>
}

const PAGE = fileURLToPath(new URL('pages/index.html', import.meta.url))
const compressors = { gzip: promisify(gzip), br: promisify(brotliCompress) }

/** Throws when a page does not compile. The code of each page is in files of its own. */
export async function bundlePages(): Promise<Asset[]> {
  const { default: tailwind } = await import('bun-plugin-tailwind')
  const built = await Bun.build({
    entrypoints: [PAGE],
    minify: true,
    splitting: true,
    target: 'browser',
    publicPath: '/dashboard/',
    naming: { asset: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', entry: '[name].[ext]' },
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [tailwind],
  })
  return Promise.all(
    built.outputs.map(async output => {
      const identity = new Uint8Array(await output.arrayBuffer())
      const [gzip, br] = await Promise.all([compressors.gzip(identity), compressors.br(identity)])
      return { name: output.path.replace(/^.*\//, ''), type: output.type, encoded: { identity, gzip, br } }
    }),
  )
}
