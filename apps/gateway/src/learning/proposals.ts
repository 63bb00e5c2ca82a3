/** Masks that nights propose, until a person accepts or dismisses them. */
import { createHash } from 'node:crypto'
import type { GatewayLearning } from '@hedgerow/contract'
import { coveredShare, overlapOf, type Polygon, type Repeat } from '@hedgerow/vision'
import { z } from 'zod'
import type { LearningStore } from './store.ts'

type Mask = GatewayLearning['cameras'][number]['masks'][number]

export type Proposals = {
  /** Stores what the last night found on a camera. */
  put(camera: string, repeats: readonly Repeat[]): void
  /** The proposals of a camera, except dismissed ones and those that a mask covers already. */
  of(camera: string): Mask[]
  /** This place is not proposed again for this label. False when there is no such proposal. */
  dismiss(camera: string, id: string): boolean
}

/** A place counts as masked when masks cover this share of the proposal. */
const COVERED = 0.5
/** The proposals of two nights for one place overlap at least this much. */
const SAME_OVERLAP = 0.7
const DISMISSED_MAX = 64
const LINES_MAX = 1_000

const share = z.number().min(0).max(1)
const repeats = z.array(
  z.object({
    label: z.string(),
    box: z.object({ x: share, y: share, width: share, height: share }),
    times: z.number(),
    wrong: z.number(),
  }),
)

/** `masks`: those of a camera in gateway.yaml. */
export function createProposals(
  store: Pick<LearningStore, 'get' | 'set'>,
  masks: (camera: string) => readonly Polygon[],
): Proposals {
  const read = (key: string): Repeat[] => repeats.safeParse(JSON.parse(store.get(key) ?? '[]')).data ?? []
  const [found, dismissed] = [(camera: string) => `masks ${camera}`, (camera: string) => `dismissed ${camera}`]

  function open(camera: string): Repeat[] {
    const unwanted = read(dismissed(camera))
    const present = masks(camera)
    return read(found(camera)).filter(
      ({ label, box }) =>
        !present.some((mask) => coveredShare(mask, box) >= COVERED) &&
        !unwanted.some((one) => one.label === label && overlapOf(one.box, box) >= SAME_OVERLAP),
    )
  }

  return {
    put: (camera, list) => store.set(found(camera), JSON.stringify(list)),
    of: (camera) => open(camera).map((repeat) => toMask(camera, repeat)),
    dismiss(camera, id) {
      const repeat = open(camera).find((one) => idOf(one) === id)
      if (!repeat) return false
      const list = [...read(dismissed(camera)), repeat].slice(-DISMISSED_MAX)
      store.set(dismissed(camera), JSON.stringify(list))
      return true
    },
  }
}

function toMask(camera: string, repeat: Repeat): Mask {
  const { label, times, wrong } = repeat
  const polygon = polygonOf(repeat)
  const corners = polygon.map(([x, y]) => `[${x}, ${y}]`).join(', ')
  const lines = `cameras:\n  ${JSON.stringify(camera)}:\n    masks:\n      - [${corners}] # ${times} times ${label}`
  return { id: idOf(repeat), label, times, wrong, polygon, lines: lines.slice(0, LINES_MAX) }
}

function idOf(repeat: Repeat): string {
  const place = JSON.stringify([repeat.label, polygonOf(repeat)])
  return createHash('sha256').update(place).digest('base64url').slice(0, 22)
}

function polygonOf({ box }: Repeat): Mask['polygon'] {
  const [left, top] = [round(box.x), round(box.y)]
  const [right, bottom] = [round(box.x + box.width), round(box.y + box.height)]
  return [
    [left, top],
    [right, top],
    [right, bottom],
    [left, bottom],
  ]
}

function round(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 1_000) / 1_000
}
