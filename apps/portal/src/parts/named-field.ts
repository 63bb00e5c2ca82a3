import { useEffect, type RefObject } from 'react'
import { useLocation } from 'react-router'

/** A link to one field of a form names it after the #. */
export function useNamedField(form: RefObject<HTMLFormElement | null>): void {
  const { hash } = useLocation()
  useEffect(() => {
    if (hash === '') return
    form.current?.querySelector<HTMLElement>(`[name="${CSS.escape(hash.slice(1))}"]`)?.focus()
  }, [form, hash])
}
