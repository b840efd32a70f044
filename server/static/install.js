// Has the browser keep the worker that this page names, which shows a page of its own while there is no connection.
"use strict";

const { worker } = document.currentScript.dataset;

addEventListener("load", () => {
  const here = navigator.serviceWorker;
  if (here && here.controller?.scriptURL !== new URL(worker, location.href).href) {
    here.register(worker).catch(() => {}); // the site works without it
  }
});
