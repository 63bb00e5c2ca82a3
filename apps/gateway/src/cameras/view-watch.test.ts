/** Clips of one drawn place, changed by FFmpeg's filters and coded as a camera codes them. */
import { spawnSync } from 'node:child_process'
import { createRgbImage, lumaOf } from '@hedgerow/vision'
import { createRenderer } from '@hedgerow/vision/rendered'
import { describe, expect, test } from 'vitest'
import { createViewWatch, usualViews, type ViewFault, type ViewWatch } from './view-watch.ts'

const SIZE = { width: 640, height: 360 }
/** Each picture of a clip stands for so many seconds. */
const PICTURE_S = 10
const NOON = Date.UTC(2026, 5, 1, 12)
/** The drawn place is soft; its fence is sharp. */
const FENCE = 'drawgrid=w=131:h=87:t=2:c=0x302820'
const NOISE = 'noise=alls=5:allf=t'
const PLACE = createRenderer(
  { name: 'a place', seed: 12, daylight: 'day', durationMs: 1_000, actors: [] },
  SIZE.width,
  SIZE.height,
).render(0).image

/** `pictures` of the place, through `filter` (whose `t` counts pictures) and H.264. */
function clip(filter: string, pictures: number) {
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${SIZE.width}x${SIZE.height}`, '-r', '1']
  const run = (args: string[], input: Uint8Array) => {
    const { status, stdout, stderr } = spawnSync('ffmpeg', ['-v', 'error', '-nostdin', ...args], {
      input,
      maxBuffer: 1e9,
    })
    if (status !== 0) throw new Error(stderr.toString())
    return stdout
  }
  const graph = `loop=loop=${pictures - 1}:size=1,setpts=N/TB,format=yuv420p,${FENCE},${filter},${NOISE},format=yuv420p`
  const coder = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '28', '-f', 'matroska', 'pipe:1']
  const film = run([...raw, '-i', 'pipe:0', '-vf', graph, '-frames:v', String(pictures), ...coder], PLACE.data)
  const bytes = run(['-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1'], film)
  const length = SIZE.width * SIZE.height * 3
  return Array.from({ length: pictures }, (_, i) =>
    createRgbImage(SIZE.width, SIZE.height, bytes.subarray(i * length, (i + 1) * length)),
  )
}

/** The fault after each picture. */
function watched(pictures: ReturnType<typeof clip>, watch: ViewWatch = createViewWatch(), from = NOON) {
  return pictures.map((image, i) => {
    const seconds = i * PICTURE_S
    watch.see({ image, luma: lumaOf(image), atMs: from - NOON + seconds * 1_000 }, from + seconds * 1_000)
    return watch.fault()
  })
}

const BEGINS = 18
const ENDS = 36
const between = `enable='between(t,${BEGINS},${ENDS - 1})'`
/** Every filter has an enabled twin for the time of the fault: split, change, and lay it over. */
const during = (filter: string) =>
  `split[usual][changed];[changed]${filter},scale=${SIZE.width}:${SIZE.height}[new];[usual][new]overlay=${between}`

describe('a camera', () => {
  test.each<[string, ViewFault, string]>([
    ['by a grey cloth', 'covered', `drawbox=c=0x707070:t=fill:${between}`],
    ['by something dark over most of it', 'covered', `drawbox=x=iw*0.15:c=0x202020:t=fill:${between}`],
    ['by something light over its left two thirds', 'covered', `drawbox=w=iw*0.7:c=0xc0c0c0:t=fill:${between}`],
    ['to the side', 'turned', during('crop=iw*0.8:ih*0.8:iw*0.2:ih*0.2')],
    ['on its axis', 'turned', during('rotate=0.3')],
    ['in perspective', 'turned', during('perspective=x0=160:y0=0:x1=640:y1=90:x2=0:y2=360:x3=500:y3=300')],
    ['a little', 'unfocused', `gblur=3:${between}`],
    ['much', 'unfocused', `gblur=10:${between}`],
  ])('that is %s: %s, told after a minute and until it is right again', (_how, fault, filter) => {
    const told = watched(clip(filter, 54))
    expect(told.slice(0, BEGINS + 6).every((one) => one === undefined)).toBe(true)
    expect(told.slice(BEGINS + 7, ENDS)).toEqual(Array.from({ length: ENDS - BEGINS - 7 }, () => fault))
    expect(told.slice(ENDS + 2).every((one) => one === undefined)).toBe(true)
  })

  test.each([
    [
      'fog that comes and goes',
      `eq=contrast='1-0.92*exp(-((t-27)/9)^2)':brightness='0.15*exp(-((t-27)/9)^2)':eval=frame`,
    ],
    ['a lamp that is switched off', `lut=y=16:u=128:v=128:${between}`],
    ['a lamp that leaves a little light', `lut=y='16+(val-16)*0.08':u=128:v=128:${between}`],
    ['a night with infrared light', `hue=s=0:${between},eq=gamma=0.5:contrast=1.2:${between}`],
    ['light that comes and goes', `eq=brightness='0.2*sin(t/3)':eval=frame`],
    ['weak light with much noise', `eq=brightness=-0.25:contrast=0.6:${between},noise=alls=30:allf=t:${between}`],
    ['wind that shakes it', `scale=656:370,crop=640:360:'8+6*sin(2.1*t)':'5+3*sin(3.7*t)'`],
    ['a lorry that stands before a third of it', `drawbox=x=iw*0.6:c=0x7080a0:t=fill:${between}`],
    ['half a minute behind a hand', `drawbox=c=0x806060:t=fill:enable='between(t,20,22)'`],
  ])('before which there is %s has no fault', (_what, filter) => {
    expect([...new Set(watched(clip(filter, 54)))]).toEqual([undefined])
  })

  const FOG = 'eq=contrast=0.05:brightness=0.1'
  const GONE = 'crop=iw*0.5:ih*0.5:iw*0.5:ih*0.5,scale=640:360'
  test.each<[string, ViewFault, string]>([
    ['turned', 'turned', GONE],
    ['covered by something grey', 'covered', 'drawbox=c=0x909090:t=fill'],
    ['covered by something brown', 'covered', 'drawbox=c=0xa08060:t=fill'],
  ])('that saw nothing but fog for a while, and is %s later, is told', (_how, fault, filter) => {
    const watch = createViewWatch()
    const minute = 60_000
    watched(clip(FOG, 9), watch)
    watched(clip('null', 30), watch, NOON + 10 * minute)
    const usual = JSON.stringify(watch.usual())
    expect(watched(clip(filter, 30), watch, NOON + 20 * minute).slice(8)).toEqual(
      Array.from({ length: 22 }, () => fault),
    )
    expect(JSON.stringify(watch.usual())).toBe(usual)
  })

  test.each([
    ['in the dark', "lut=y='16+(val-16)*0.06':u=128:v=128"],
    ['in weak light', "lut=y='16+(val-16)*0.3'"],
  ])('that is turned %s is told when there is light again', (_when, dim) => {
    const watch = createViewWatch()
    const hour = 3_600_000
    watched(clip('null', 20), watch)
    watched(clip(`${GONE},${dim}`, 20), watch, NOON + 10 * hour)
    expect(watched(clip(GONE, 12), watch, NOON + 20 * hour).at(-1)).toBe('turned')
  })

  test('is compared with what was kept when the gateway starts again, at another hour', () => {
    const before = createViewWatch()
    watched(clip('null', 6), before)
    const kept = usualViews.parse(JSON.parse(JSON.stringify(before.usual())))
    const later = createViewWatch(kept)
    expect(watched(clip('crop=iw*0.7:ih*0.7:0:0,scale=640:360', 10), later, NOON + 4 * 3_600_000).at(-1)).toBe('turned')
    expect(Object.keys(later.usual())).toEqual(Object.keys(kept))
    expect(JSON.stringify(kept).length).toBeLessThan(2_500)
  })

  test('is not judged where nothing shows', () => {
    expect(watched(clip('drawbox=c=0x808080:t=fill', 20)).at(-1)).toBeUndefined()
  })
})
