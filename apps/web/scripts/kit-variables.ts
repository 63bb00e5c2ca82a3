/**
 * The kit's CSS variables as a stylesheet. The kit would write them into a `<style>` element while it runs, which
 * the hub's policy blocks, so they are made at build time from the same theme.
 */
import { convertCssVariables, defaultCssVariablesResolver, DEFAULT_THEME, mergeMantineTheme } from '@mantine/core'
import { theme } from '../src/ui/theme.ts'

export function kitVariables(): string {
  return convertCssVariables(defaultCssVariablesResolver(mergeMantineTheme(DEFAULT_THEME, theme)), ':root')
}
