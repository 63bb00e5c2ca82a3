/** Names the objects in a picture: nothing but motion, the demonstration eye, or a model. */
import {
  copyOf,
  coveredShare,
  lookAt,
  oneEach,
  shareOf,
  squaresAround,
  type Box,
  type PartLook,
  type Polygon,
  type Sighting,
} from '@hedgerow/vision'
import { NO_MODEL } from '@hedgerow/contract/constants'
import type { Frame } from '../../cameras/camera.ts'
import { MOTION } from '../../kernel/motion-label.ts'
import { isPersonLabel } from '../../kernel/person-label.ts'
import type { Model } from '../../models/model.ts'
import type { Aim } from './pace.ts'

export type Looked = {
  /** One for each object. */
  sightings: Sighting[]
  /** Everything that was found, also twice. */
  all: Sighting[]
  /** Where it looked; undefined for the whole picture. */
  parts: Box[] | undefined
}

export type Recogniser = {
  readonly by: string
  /** Whether it finds objects that stand still; otherwise it looks only at moving regions. */
  readonly seesStill: boolean
  /** Whether it would name a person now; undefined while it can't look. */
  seesPersons(): boolean | undefined
  /** The lowest score of a detection by label, where it knows one. */
  scores?(): Readonly<Record<string, number>> | undefined
  /** Undefined when the picture was not processed: there was no time, or the model can't be used. */
  look(camera: string, frame: Frame, aim: Aim): Promise<Looked | undefined>
}

/** Without a model nobody knows what moves. */
export const motionEye: Recogniser = {
  by: NO_MODEL,
  seesStill: false,
  seesPersons: () => false,
  look: async (_camera, _frame, { boxes }) => wholly(boxes.map((box) => ({ box, label: MOTION, score: 1 }))),
}

/** Recognises drawn outlines, for drawn scenes. In real pictures it sees animals that are not there. */
export const demonstrationEye: Recogniser = {
  by: 'demonstration eye',
  seesStill: false,
  seesPersons: () => true,
  look: async (_camera, { luma }, { boxes }) =>
    wholly(
      boxes.flatMap((box) => {
        const look = lookAt(luma, box)
        return look.label === 'nothing' ? [] : [{ box, ...look }]
      }),
    ),
}

const wholly = (sightings: Sighting[]): Looked => ({ sightings, all: sightings, parts: undefined })

/** Lower than a new track needs, because a known track accepts weaker sightings. */
export const LEAST_SCORE = 0.1
/** An object is not reported when a mask covers this share of its box. */
const MASKED = 0.5
const WHOLE: Box = { x: 0, y: 0, width: 1, height: 1 }

export type OfCamera = {
  masks: readonly Polygon[]
  /** How many squares around what moves a model looks at. */
  regions: number
}

export function modelRecogniser(model: Model, of: (camera: string) => OfCamera): Recogniser {
  return {
    by: model.name,
    seesStill: true,
    seesPersons: () => model.labels()?.some(isPersonLabel),
    scores: model.scores,
    async look(camera, frame, { boxes, isWhole, isUnknown, usualSide }) {
      const { masks, regions } = of(camera)
      // The picture at its own resolution takes time to decode, so only where a square is wanted.
      const own = boxes.length > 0 && regions > 0 ? ((await frame.own?.()) ?? frame.image) : frame.image
      const { squares, rest } = squaresAround(boxes, { size: own, most: regions, usualSide, isUnknown })
      const looksAround = isWhole || rest.length > 0 || squares.length === 0
      const pictures = squares.map((square) => copyOf(own, square))
      const seen = await model.look(camera, looksAround ? [...pictures, frame.image] : pictures)
      if (!seen) return undefined
      const parts = [...squares.map((square) => shareOf(square, own)), ...(looksAround ? [WHOLE] : [])]
      const looks = parts.map((part, i): PartLook<Sighting> => {
        const found = seen[i]!.map(({ box, ...rest }) => ({ ...rest, box: inPicture(box, part) }))
        return { part, found: found.filter(({ box }) => !masks.some((mask) => coveredShare(mask, box) >= MASKED)) }
      })
      return {
        sightings: oneEach(looks),
        all: looks.flatMap(({ found }) => found),
        parts: looksAround ? undefined : parts,
      }
    },
  }
}

function inPicture({ x, y, width, height }: Box, part: Box): Box {
  return {
    x: part.x + x * part.width,
    y: part.y + y * part.height,
    width: width * part.width,
    height: height * part.height,
  }
}
