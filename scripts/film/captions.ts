import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { FRAMES_PER_SECOND, type Shot } from './camera.ts'

/** The portal's own font, resolved from its package. */
const portal = createRequire(join(import.meta.dirname, '../../packages/ui/package.json'))
const FONT = portal.resolve('@fontsource-variable/geist/files/geist-latin-wght-normal.woff2')

/** The text below the picture from `fromSeconds` until the next one or the end. */
export type Caption = { fromSeconds: number; place: string; text: string }

type Cue = Caption & { toSeconds: number }

const cuesOf = (captions: readonly Caption[], endSeconds: number): Cue[] =>
  captions.map((caption, index) => ({ ...caption, toSeconds: captions[index + 1]?.fromSeconds ?? endSeconds }))

/** WebVTT (W3C), for viewers who cannot read the strip or want larger text. */
export function webVttOf(captions: readonly Caption[], endSeconds: number): string {
  const cues = cuesOf(captions, endSeconds).map(
    ({ fromSeconds, toSeconds, place, text }) =>
      `${timestamp(fromSeconds)} --> ${timestamp(toSeconds)}\n${place}: ${text}\n`,
  )
  return ['WEBVTT\n', ...cues].join('\n')
}

function timestamp(seconds: number): string {
  const ms = Math.round(seconds * 1_000)
  const part = (value: number, digits = 2) => String(value).padStart(digits, '0')
  return `${part(Math.floor(ms / 60_000))}:${part(Math.floor(ms / 1_000) % 60)}.${part(ms % 1_000, 3)}`
}

/** Draws each caption as the strip below the picture. */
export async function drawCaptions(
  captions: readonly Caption[],
  options: { browser: Browser; folder: string; endSeconds: number; width: number; height: number },
): Promise<Shot[]> {
  const { browser, folder, endSeconds, width, height } = options
  const context = await browser.newContext({ viewport: { width, height } })
  const page = await context.newPage()
  const font = await readFile(FONT)
  await page.setContent(`<!doctype html><style>
    @font-face { font-family: Geist; src: url(data:font/woff2;base64,${font.toString('base64')}); font-weight: 100 900 }
    body { margin: 0; height: ${height}px; box-sizing: border-box; padding: 0 36px;
      display: flex; align-items: center; gap: 24px;
      background: #0a3d34; border-top: 3px solid #f2b544; color: #f1f8f5;
      font: 500 23px/1.2 Geist; letter-spacing: -0.012em }
    #place { flex: none; color: #f2b544; font-weight: 620 } #text { flex: 1 }
  </style><span id="place"></span><span id="text"></span>`)
  const shots: Shot[] = []
  let drawn = 0
  for (const [index, { place, text, toSeconds }] of cuesOf(captions, endSeconds).entries()) {
    await page.evaluate(
      (words) => {
        for (const [id, content] of Object.entries(words)) document.querySelector(`#${id}`)!.textContent = content
        return document.fonts.ready.then(() => undefined)
      },
      { place, text },
    )
    const file = join(folder, `caption-${index}.png`)
    await writeFile(file, await page.screenshot())
    const until = Math.round(toSeconds * FRAMES_PER_SECOND)
    shots.push({ file, frames: until - drawn })
    drawn = until
  }
  await context.close()
  return shots
}
