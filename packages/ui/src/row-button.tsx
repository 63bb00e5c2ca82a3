import type { ComponentProps } from 'react'
import styles from './row-button.module.css'

/**
 * A button for the rows of tables with thousands of rows: it looks like the kit's button, but has one element instead
 * of four and none of the kit's work at each render. `icon` is a quiet one around an icon; `tall-icon` is for rows of
 * buttons of full height.
 */
export function RowButton({ shape, ...button }: ComponentProps<'button'> & { shape?: 'icon' | 'tall-icon' }) {
  // The class is last, because the kit's menu adds its own class to the button that opens it.
  return <button type="button" {...button} className={styles.button} data-shape={shape} />
}
