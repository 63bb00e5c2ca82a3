/** sharp, loaded with the first picture, because it takes 17 MB; JPEG is the only format that it reads. */
type Sharp = (typeof import('sharp'))['default']

let loaded: Promise<Sharp> | undefined

export function loadSharp(): Promise<Sharp> {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    // Loaders of other formats are attack surface that nothing here needs.
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: ['VipsForeignLoadJpeg'] })
    sharp.cache(false)
    sharp.concurrency(1)
    return sharp
  })
  return loaded
}
