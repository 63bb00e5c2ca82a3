/**
 * Vite plugin: the kit's CSS variables as the stylesheet `virtual:kit-variables.css`, made at build time from the
 * theme. At run time the kit would write them into a `<style>` element, which the hub's policy blocks.
 */
import { convertCssVariables, defaultCssVariablesResolver, DEFAULT_THEME, mergeMantineTheme } from '@mantine/core'
import type { Plugin } from 'vite'
import { theme } from '../src/theme.ts'

const ID = 'virtual:kit-variables.css'

export const kitVariables: Plugin = {
  name: 'kit-variables',
  resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
  load: (id) =>
    id === `\0${ID}`
      ? convertCssVariables(defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme)), ':root')
      : undefined,
}
