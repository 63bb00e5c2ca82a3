/** How large objects usually are at a place of the picture, so that squares there fit them. */
import { footOf, type Box } from '@hedgerow/vision'

const COLUMNS = 8
const ROWS = 6
/** How much one sighting counts. */
const LESSON = 0.1

/** `size`: that of the camera's pictures, in any unit. Sides are shares of its shorter side. */
export function createUsualSizes() {
  const sides = new Map<number, number>()
  return {
    learn(box: Box, size: { width: number; height: number }): void {
      const longer = Math.max(box.width * size.width, box.height * size.height) / Math.min(size.width, size.height)
      const usual = sides.get(cellOf(box)) ?? longer
      sides.set(cellOf(box), usual + LESSON * (longer - usual))
    },
    /** 0 where nothing was seen. */
    side: (box: Box): number => sides.get(cellOf(box)) ?? 0,
  }
}

function cellOf(box: Box): number {
  const { x, y } = footOf(box)
  const within = (share: number, count: number) => Math.min(count - 1, Math.max(0, Math.floor(share * count)))
  return within(y, ROWS) * COLUMNS + within(x, COLUMNS)
}
