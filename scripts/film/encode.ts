import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FRAMES_PER_SECOND, type Shot } from './camera.ts'

/** The picture above and its captions below. */
export type Reel = { picture: readonly Shot[]; strip: readonly Shot[] }

const COLOURS = '-pix_fmt yuv420p -colorspace bt709 -color_primaries bt709 -color_trc bt709'
const STACK = '[0:v][1:v]vstack,scale=out_color_matrix=bt709:out_range=tv'
const KEYFRAME_EVERY = String(FRAMES_PER_SECOND * 5)

/** Encodes with the machine's ffmpeg; two runs on the same pictures make identical files. */
export async function encodeFilm(
  { picture, strip }: Reel,
  options: { workFolder: string; webm: string; mp4: string; poster: string; posterAtSeconds: number },
): Promise<void> {
  const { workFolder, webm, mp4, poster, posterAtSeconds } = options
  const lists = [join(workFolder, 'picture.txt'), join(workFolder, 'strip.txt')] as const
  await writeFile(lists[0], concatList(picture))
  await writeFile(lists[1], concatList(strip))
  const input = lists.flatMap((list) => ['-f', 'concat', '-safe', '0', '-i', list])
  const filter = `-filter_complex ${STACK} -r ${FRAMES_PER_SECOND} ${COLOURS} -fflags +bitexact -map_metadata -1`
  const vp9 = `-c:v libvpx-vp9 -b:v 0 -crf 33 -g ${KEYFRAME_EVERY} -row-mt 1 -deadline good`
  const h264 = `-c:v libx264 -preset slow -crf 27 -tune animation -profile:v high -g ${KEYFRAME_EVERY}`
  const shared = [...input, ...words(filter)]
  const passLog = ['-passlogfile', join(workFolder, 'vp9')]
  await ffmpeg([...shared, ...words(`${vp9} -cpu-used 4 -pass 1`), ...passLog, ...words('-an -f null -')])
  await ffmpeg([...shared, ...words(`${vp9} -cpu-used 2 -pass 2`), ...passLog, '-an', webm])
  await ffmpeg([...shared, ...words(`${h264} -movflags +faststart -an`), mp4])
  await ffmpeg(['-ss', String(posterAtSeconds), '-i', mp4, ...words('-frames:v 1 -q:v 4 -fflags +bitexact'), poster])
}

const words = (text: string): string[] => text.split(' ')

/** The last picture is listed twice, because the demuxer ignores the last one's duration (ffmpeg-formats, concat). */
function concatList(shots: readonly Shot[]): string {
  const lines = shots.map(({ file, frames }) => `file '${file}'\nduration ${(frames / FRAMES_PER_SECOND).toFixed(2)}`)
  return `ffconcat version 1.0\n${lines.join('\n')}\nfile '${shots.at(-1)?.file}'\n`
}

async function ffmpeg(args: readonly string[]): Promise<void> {
  const child = spawn('ffmpeg', ['-hide_banner', '-loglevel', 'error', '-y', ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}`)
}
