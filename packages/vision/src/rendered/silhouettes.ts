/**
 * Side views of the animals of the rendered scenes, and of a person, made of limbs. They walk: `phase` moves the legs.
 * Lengths are in withers heights, y points up and the ground is at 0 until the figure is fitted into its box.
 */
import { boundsOf, ellipse, limb, mapFigure, triangle, type Figure, type Outline } from './outline.ts'
import { createRandom, type Random } from './random.ts'

export const RENDERED_LABELS = ['boar', 'cat', 'deer', 'fox', 'person'] as const
export type RenderedLabel = (typeof RENDERED_LABELS)[number]

/** One individual: the same seed draws the same one in every phase. */
export type Individual = { readonly label: RenderedLabel; readonly seed: number }

export type FittedFigure = {
  readonly figure: Figure
  /** Width of the box for a height of 1. */
  readonly width: number
}

/** The figure in a box of height 1 whose top left corner is (0, 0), y down, facing right. `phase` is in radians. */
export function silhouetteOf({ label, seed }: Individual, phase: number): FittedFigure {
  const random = createRandom(seed)
  const drawn = label === 'person' ? person(random, phase) : quadruped(BUILDS[label], random, phase)
  const bounds = boundsOf(drawn)
  const height = bounds.top - bounds.bottom
  const scale = 1 / Math.abs(height)
  const figure = mapFigure(drawn, (x, y) => [(x - bounds.left) * scale, (bounds.bottom - y) * scale])
  return { figure, width: (bounds.right - bounds.left) * scale }
}

type Build = {
  /** Hip to shoulder. */
  body: number
  chest: number
  rump: number
  leg: number
  legWidth: number
  neck: number
  neckAngle: number
  neckWidth: number
  head: number
  headAngle: number
  headDepth: number
  snout: number
  ear: number
  tail: number
  tailAngle: number
  tailWidth: number
  hump: number
  /** Share of the individuals that have antlers. */
  antlers: number
}

const BUILDS: Record<Exclude<RenderedLabel, 'person'>, Build> = {
  boar: {
    body: 1.15,
    chest: 0.62,
    rump: 0.5,
    leg: 0.38,
    legWidth: 0.11,
    neck: 0.15,
    neckAngle: -0.15,
    neckWidth: 0.5,
    head: 0.55,
    headAngle: -0.45,
    headDepth: 0.42,
    snout: 0.15,
    ear: 0.16,
    tail: 0.3,
    tailAngle: -1.9,
    tailWidth: 0.035,
    hump: 0.14,
    antlers: 0,
  },
  cat: {
    body: 0.8,
    chest: 0.3,
    rump: 0.3,
    leg: 0.32,
    legWidth: 0.08,
    neck: 0.14,
    neckAngle: 0.8,
    neckWidth: 0.22,
    head: 0.1,
    headAngle: 0,
    headDepth: 0.3,
    snout: 0.24,
    ear: 0.13,
    tail: 0.75,
    tailAngle: 2.1,
    tailWidth: 0.07,
    hump: 0,
    antlers: 0,
  },
  deer: {
    body: 1.05,
    chest: 0.42,
    rump: 0.38,
    leg: 0.78,
    legWidth: 0.075,
    neck: 0.62,
    neckAngle: 1,
    neckWidth: 0.2,
    head: 0.38,
    headAngle: -0.3,
    headDepth: 0.2,
    snout: 0.1,
    ear: 0.2,
    tail: 0.16,
    tailAngle: -2.2,
    tailWidth: 0.07,
    hump: 0,
    antlers: 0.6,
  },
  fox: {
    body: 0.95,
    chest: 0.3,
    rump: 0.26,
    leg: 0.38,
    legWidth: 0.07,
    neck: 0.22,
    neckAngle: 0.55,
    neckWidth: 0.22,
    head: 0.34,
    headAngle: -0.2,
    headDepth: 0.22,
    snout: 0.05,
    ear: 0.2,
    tail: 0.8,
    tailAngle: -2.8,
    tailWidth: 0.19,
    hump: 0,
    antlers: 0,
  },
}

function quadruped(build: Build, random: Random, phase: number): Outline[] {
  const vary = (length: number) => length * random.between(0.9, 1.1)
  const turn = (angle: number) => angle + random.between(-0.18, 0.18)
  const body = vary(build.body)
  const [chest, rump, leg] = [vary(build.chest), vary(build.rump), vary(build.leg)]
  const nod = 0.05 * Math.sin(2 * phase)
  const [hipY, shoulderY] = [leg + rump / 2, leg + chest / 2]
  const figure = [limb(0, hipY, rump / 2, body, shoulderY, chest / 2)]
  if (build.hump > 0) figure.push(ellipse(body * 0.75, shoulderY + chest * 0.25, body * 0.32, chest * 0.3 + build.hump))

  const legWidth = vary(build.legWidth)
  for (const [x, offset, thigh] of [
    [0, 0, rump * 0.28],
    [0, Math.PI, rump * 0.28],
    [body, Math.PI * 0.6, chest * 0.22],
    [body, Math.PI * 1.6, chest * 0.22],
  ] as const) {
    const swing = 0.38 * leg * Math.sin(phase + offset)
    const lift = Math.max(0, 0.14 * leg * Math.cos(phase + offset))
    const knee = x + swing * 0.4 + (x === 0 ? -0.06 : 0.04) * leg
    figure.push(
      limb(x, leg * 1.1, Math.max(thigh, legWidth / 2), knee, leg * 0.5 + lift / 2, legWidth * 0.6),
      limb(knee, leg * 0.5 + lift / 2, legWidth * 0.6, x + swing, lift + legWidth * 0.4, legWidth * 0.4),
    )
  }

  const neckAngle = turn(build.neckAngle) + nod
  const [neckLength, neckWidth] = [vary(build.neck), vary(build.neckWidth)]
  const headDepth = vary(build.headDepth)
  const headX = body + chest * 0.15 + neckLength * Math.cos(neckAngle)
  const headY = shoulderY + chest * 0.15 + neckLength * Math.sin(neckAngle)
  figure.push(limb(body, shoulderY + chest * 0.1, neckWidth / 2 + 0.03, headX, headY, headDepth / 2))

  const headAngle = turn(build.headAngle) + nod
  const headLength = vary(build.head)
  const [cos, sin] = [Math.cos(headAngle), Math.sin(headAngle)]
  const snout = build.snout / 2
  figure.push(limb(headX, headY, headDepth / 2, headX + headLength * cos, headY + headLength * sin, snout))
  const ear = vary(build.ear)
  for (const shift of [-0.35, 0.15]) {
    const x = headX + shift * headDepth
    const y = headY + headDepth * 0.35
    figure.push(triangle(x - ear * 0.35, y, x + ear * 0.35, y, x - ear * 0.25, y + ear))
  }

  const tailAngle = turn(build.tailAngle) + 0.12 * Math.sin(phase)
  const [tail, tailWidth] = [vary(build.tail), build.tailWidth / 2]
  const [tailX, tailY] = [-rump * 0.4, hipY + rump * 0.25]
  const [endX, endY] = [tailX + tail * Math.cos(tailAngle), tailY + tail * Math.sin(tailAngle)]
  const [middleX, middleY] = [(tailX + endX) / 2, (tailY + endY) / 2]
  figure.push(limb(tailX, tailY, tailWidth * 0.6, middleX, middleY, tailWidth))
  figure.push(limb(middleX, middleY, tailWidth, endX, endY, tailWidth * 0.5))

  if (random.next() < build.antlers)
    for (const lean of [1.35, 1.75]) {
      const height = random.between(0.35, 0.55)
      const [topX, topY] = [headX + height * Math.cos(lean), headY + height * Math.sin(lean)]
      figure.push(limb(headX, headY, 0.025, topX, topY, 0.018))
      figure.push(limb((headX + topX) / 2, (headY + topY) / 2, 0.02, topX + 0.15, headY + height * 0.75, 0.014))
    }
  return figure
}

function person(random: Random, phase: number): Outline[] {
  const vary = (length: number) => length * random.between(0.92, 1.08)
  const [hip, shoulder, width] = [vary(0.92), vary(1.42), vary(0.17)]
  const lean = random.between(0, 0.08)
  const head = vary(0.115)
  const figure = [
    limb(0, hip, width * 0.85, lean, shoulder, width),
    limb(lean, shoulder, 0.07, lean * 1.2, shoulder + 0.2, 0.07),
    ellipse(lean * 1.3, shoulder + 0.2 + head, head * 0.9, head * 1.1),
  ]
  for (const side of [0, Math.PI]) {
    const swing = Math.sin(phase + side)
    const lift = Math.max(0, 0.1 * Math.cos(phase + side))
    const knee = 0.16 * swing + 0.04
    figure.push(
      limb(0, hip, 0.11, knee, 0.5 + lift / 2, 0.08),
      limb(knee, 0.5 + lift / 2, 0.08, 0.36 * swing, 0.06 + lift, 0.05),
      limb(0.36 * swing, 0.05 + lift, 0.05, 0.36 * swing + 0.12, 0.04 + lift, 0.04),
    )
    const elbow = lean - 0.18 * swing
    figure.push(
      limb(lean, shoulder + 0.06, 0.07, elbow, shoulder - 0.28, 0.05),
      limb(elbow, shoulder - 0.28, 0.05, elbow - 0.1 * swing + 0.06, shoulder - 0.52, 0.04),
    )
  }
  return figure
}
