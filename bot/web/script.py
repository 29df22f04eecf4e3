"""The little that has to happen in the browser itself."""

SCRIPT = """
<script>
window.labhand = {
  nearEnd: true,
  toEnd(always) {
    if (!always && !this.nearEnd) return;
    const move = () => window.scrollTo({top: document.documentElement.scrollHeight, behavior: 'instant'});
    move(); requestAnimationFrame(move); setTimeout(move, 120);
  },
  copy(id) {
    navigator.clipboard.writeText(getHtmlElement(id).innerText);
    Quasar.Notify.create({message: 'Copied', timeout: 900});
  },
  address(thread, person, push) {
    const query = new URLSearchParams();
    if (thread) query.set('thread', thread);
    if (person) query.set('as', person);
    const url = query.size ? '/?' + query : '/';
    if (location.pathname + location.search === url) return;
    push ? history.pushState(null, '', url) : history.replaceState(null, '', url);
  },
  news() { if (document.hidden && !document.title.startsWith('● ')) document.title = '● ' + document.title; },
  theme(emit) {
    const dark = !Quasar.Dark.isActive;
    const system = matchMedia('(prefers-color-scheme: dark)').matches;
    const age = dark === system ? 0 : 31536000;
    document.cookie = `labhand-theme=${dark ? 'dark' : 'light'}; path=/; max-age=${age}; samesite=strict`;
    emit(dark === system ? null : dark);
  },
  pick(id) { getElement(id).$refs.qRef.pickFiles(); },
  accept(id) {
    const stop = (e) => { if ([...e.dataTransfer.types].includes('Files')) e.preventDefault(); };
    addEventListener('dragover', (e) => { stop(e); document.body.classList.add('lh-dropping'); });
    addEventListener('dragleave', (e) => { if (!e.relatedTarget) document.body.classList.remove('lh-dropping'); });
    addEventListener('drop', (e) => {
      stop(e); document.body.classList.remove('lh-dropping');
      if (e.dataTransfer.files.length) getElement(id).$refs.qRef.addFiles([e.dataTransfer.files[0]]);
    });
  },
};
addEventListener('scroll', () => {
  const page = document.documentElement;
  labhand.nearEnd = page.scrollHeight - page.scrollTop - page.clientHeight < 160;
}, {passive: true});
addEventListener('popstate', () => emitEvent('labhand_back', new URLSearchParams(location.search).get('thread')));
addEventListener('visibilitychange', () => { document.title = document.title.replace(/^● /, ''); });
addEventListener('click', (e) => {
  const link = e.target.closest && e.target.closest('.lh-text a[href]');
  if (link) { e.preventDefault(); window.open(link.href, '_blank', 'noopener,noreferrer'); }
});
</script>
"""

SEND_ON_ENTER = """(e) => {
  if (e.key !== 'Enter' || e.shiftKey || e.isComposing || e.keyCode === 229) return;
  e.preventDefault();
  emit(e.target.value);
}"""
"""Enter sends, Shift+Enter starts a line, and the Enter that ends a Chinese word in an input method does neither."""

PLAIN_CLICK = "(e) => { if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return; e.preventDefault(); emit() }"
"""A link followed in the page itself; with Ctrl it still opens a tab."""
