// Has the reader told on the device in his hands, or no more: asks the browser how it is reached, and sends the form.

const form = document.getElementById("device");
const { key, known } = form.dataset;
const fit = navigator.serviceWorker && "PushManager" in window && "Notification" in window;

function show(state) {
  for (const part of form.querySelectorAll("[data-case]")) {
    part.hidden = !part.dataset.case.split(" ").includes(state);
  }
  form.hidden = false;
}

const base64 = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Return what the server recognises an address by. */
async function mark(endpoint) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint)));
  return [...hash.slice(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Return how this browser is reached, null if it is not; null as well, once it is so, if somebody else is told here or
    the house had another key then. */
async function subscription() {
  const registration = await navigator.serviceWorker.getRegistration();
  const found = await registration?.pushManager.getSubscription();
  if (!found) {
    return null;
  }
  const ours = base64(found.options.applicationServerKey ?? []) === key;
  return ours && known.split(" ").includes(await mark(found.endpoint)) ? found : null;
}

async function look() {
  if (!fit) {
    show("unfit");
  } else if (Notification.permission === "denied") {
    show("blocked");
  } else {
    show((await subscription()) ? "on" : "off");
  }
}

async function begin() {
  await Notification.requestPermission(); // first of all: some browsers ask only while the button is being pressed
  const { pushManager } = await navigator.serviceWorker.getRegistration();
  await (await pushManager.getSubscription())?.unsubscribe();
  const found = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  form.elements.endpoint.value = found.endpoint;
  form.elements.p256dh.value = base64(found.getKey("p256dh"));
  form.elements.auth.value = base64(found.getKey("auth"));
}

async function end() {
  const found = await subscription();
  form.elements.endpoint.value = found?.endpoint ?? "";
  form.elements.end.value = "yes";
  await found?.unsubscribe();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  event.submitter.disabled = true;
  try {
    await (event.submitter.value === "end" ? end() : begin());
    form.submit();
  } catch {
    event.submitter.disabled = false;
    show(Notification.permission === "denied" ? "blocked" : "failed");
  }
});

await look().catch(() => show("failed"));
