/** The last seconds of a camera that sends JPEG, in memory. */
export type RecentPicture = { jpeg: Buffer; at: number }

export type RecentPictures = {
  /** `at` is in milliseconds of a clock that never goes back. */
  add(picture: RecentPicture): void
  /** The pictures from the last one at or before `at`, or from the oldest. */
  since(at: number): RecentPicture[]
}

export function createRecentPictures({ keepMs, maxBytes }: { keepMs: number; maxBytes: number }): RecentPictures {
  const pictures: RecentPicture[] = []
  let size = 0
  return {
    add(picture) {
      pictures.push(picture)
      size += picture.jpeg.length
      while (pictures.length > 1 && (pictures[1]!.at <= picture.at - keepMs || size > maxBytes))
        size -= pictures.shift()!.jpeg.length
    },
    since(at) {
      const first = pictures.findLastIndex((picture) => picture.at <= at)
      return pictures.slice(Math.max(0, first))
    },
  }
}
