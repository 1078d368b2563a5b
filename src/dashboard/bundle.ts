/** Bundles the pages with Bun's bundler and compresses the files. It does not access the network. */
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

export type ContentEncoding = 'identity' | 'gzip' | 'br'

/** A file of the pages. Its name has a content hash, except for index.html. */
export interface Asset {
  name: string
  type: string
  encoded: Record<ContentEncoding, Uint8Array>
}

const PAGE = fileURLToPath(new URL('pages/index.html', import.meta.url))
const compressors = { gzip: promisify(gzip), br: promisify(brotliCompress) }

/** Bundles the pages. The code of each page is in separate files. Throws when a page does not compile. */
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
