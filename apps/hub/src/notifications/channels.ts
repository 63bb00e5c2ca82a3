import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ChannelType } from './channel.ts'

const FOLDER = join(import.meta.dirname, 'channels')

/** Every file of channels/ except tests, in the order of names: adding the file adds the channel. */
export const channelTypes: readonly ChannelType[] = await Promise.all(
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .toSorted()
    .map(async (file) => ((await import(join(FOLDER, file))) as { channel: ChannelType }).channel),
)
