import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { CheckIcon, CopyIcon } from './icons.tsx'

const CONFIRMED_MS = 2_000

/**
 * Copies `text`. Browsers allow the clipboard call on secure pages only, and a hub on a local network is often not one.
 */
export function CopyButton({ text, children }: { text: string; children: string }) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  const button = useRef<HTMLButtonElement>(null)
  const copy = async () => {
    const done = await copyText(text, button.current)
    setState(done ? 'copied' : 'failed')
    setTimeout(() => setState('idle'), CONFIRMED_MS)
  }
  return (
    <Button
      ref={button}
      variant="default"
      leftSection={state === 'copied' ? <CheckIcon /> : <CopyIcon />}
      onClick={() => void copy()}
    >
      <span aria-live="polite">
        {state === 'copied' ? 'Copied' : state === 'failed' ? 'Select and copy it' : children}
      </span>
    </Button>
  )
}

async function copyText(text: string, beside: HTMLElement | null): Promise<boolean> {
  if (window.isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  // The helper is beside the button, because a dialog takes focus back from anything outside it.
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'visually-hidden'
  beside?.parentElement?.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  beside?.focus()
  return copied
}
