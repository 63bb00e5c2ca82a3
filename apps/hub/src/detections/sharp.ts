/** sharp, loaded with the first picture, because it takes memory; JPEG is the only format that it reads. */
import type sharp from 'sharp'

type Sharp = typeof sharp

let loaded: Promise<Sharp> | undefined

export function loadSharp(): Promise<Sharp> {
  loaded ??= import('sharp').then(({ default: library }) => {
    // Loaders of other formats are attack surface that nothing here needs.
    library.block({ operation: ['VipsForeignLoad'] })
    library.unblock({ operation: ['VipsForeignLoadJpeg'] })
    library.cache(false)
    library.concurrency(1)
    return library
  })
  return loaded
}
