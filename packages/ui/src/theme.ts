import { createTheme, type MantineColorsTuple, type VariantColorsResolver } from '@mantine/core'

const gray: MantineColorsTuple = [
  '#f5f7f6',
  '#ebf0ee',
  '#dde4e1',
  '#c6d1cc',
  '#a9b8b2',
  '#869890',
  '#6a7d75',
  '#54655e',
  '#2f3f39',
  '#14201c',
]
const dark: MantineColorsTuple = [
  '#e6eeea',
  '#c5d2cc',
  '#9db0a8',
  '#7c9087',
  '#4a5d55',
  '#31413a',
  '#22302b',
  '#19231f',
  '#121a17',
  '#0c1210',
]
const pine: MantineColorsTuple = [
  '#e6f3f0',
  '#cbe6df',
  '#9fd4c7',
  '#6fc0ae',
  '#4fc3a8',
  '#2a9a84',
  '#17806c',
  '#0b6f5d',
  '#095c4d',
  '#07483d',
]

const NO_BORDER = '1px solid transparent'
const quiet = { background: 'transparent', hover: 'var(--hover)', border: NO_BORDER }

/** Buttons use the colours of our tokens: one accent, one danger, and the rest quiet. */
const variantColors: VariantColorsResolver = ({ variant, color }) => {
  const danger = color === 'red'
  if (variant === 'filled') {
    return danger
      ? {
          background: 'var(--danger-fill)',
          hover: 'var(--danger-fill-hover)',
          color: 'var(--on-danger)',
          border: NO_BORDER,
        }
      : {
          background: 'var(--brand-fill)',
          hover: 'var(--brand-fill-hover)',
          color: 'var(--on-brand)',
          border: NO_BORDER,
        }
  }
  const ink = danger ? 'var(--danger)' : 'var(--ink)'
  if (variant === 'default')
    return { ...quiet, background: 'var(--surface)', color: ink, border: '1px solid var(--line-strong)' }
  return { ...quiet, color: ink }
}

/** The kit's theme; the colours are tokens in tokens.css. */
export const theme = createTheme({
  colors: { gray, dark, pine },
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 4 },
  defaultRadius: 6,
  fontFamily: "'Geist Variable', system-ui, sans-serif",
  fontFamilyMonospace: "'Geist Mono Variable', ui-monospace, monospace",
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '18px' },
  headings: { fontFamily: "'Geist Variable', system-ui, sans-serif", fontWeight: '620' },
  focusRing: 'auto',
  respectReducedMotion: true,
  cursorType: 'pointer',
  variantColorResolver: variantColors,
})
