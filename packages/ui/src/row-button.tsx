import type { ComponentProps } from 'react'
import styles from './row-button.module.css'

/**
 * A button in the rows of a table that may be thousands long: it looks like the kit's, and costs one element instead of
 * four and none of the kit's work at each drawing. `icon` is the quiet one around an icon; `tall-icon` stands among
 * buttons of full height.
 */
export function RowButton({ shape, ...button }: ComponentProps<'button'> & { shape?: 'icon' | 'tall-icon' }) {
  // The class comes last: the kit's menu gives its own to the button that opens it.
  return <button type="button" {...button} className={styles.button} data-shape={shape} />
}
