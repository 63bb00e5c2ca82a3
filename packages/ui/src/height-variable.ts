import { useLayoutEffect, type RefObject } from 'react'

/**
 * Writes the height of `element` to the CSS variable `name` of `holder`, for parts that stick below the element.
 * Without a `holder` nothing is written.
 */
export function useHeightVariable(
  element: RefObject<HTMLElement | null>,
  name: `--${string}`,
  holder: (element: HTMLElement) => HTMLElement | null,
): void {
  useLayoutEffect(() => {
    const measured = element.current
    const target = measured === null ? null : holder(measured)
    if (measured === null || target === null) return undefined
    const write = () => target.style.setProperty(name, `${measured.getBoundingClientRect().height}px`)
    write()
    const observer = new ResizeObserver(write)
    observer.observe(measured)
    return () => {
      observer.disconnect()
      target.style.removeProperty(name)
    }
  }, [element, name, holder])
}

/** A holder: every part of the page can read the variable. */
export const wholePage = () => document.documentElement
