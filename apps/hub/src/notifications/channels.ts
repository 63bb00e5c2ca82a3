import { readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { ChannelType } from './channel.ts'

const FOLDER = join(import.meta.dirname, 'channels')
/** `.js` in a bundle. */
const EXTENSION = extname(import.meta.filename)

/** Every file of channels/ except tests, in the order of names: adding the file adds the channel. */
export const channelTypes: readonly ChannelType[] = await Promise.all(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith(EXTENSION) && !file.endsWith('.test.ts'))
    .toSorted()
    .map(async (file) => ((await import(join(FOLDER, file))) as { channel: ChannelType }).channel),
)
