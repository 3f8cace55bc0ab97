// An OpenID provider on 127.0.0.1: panva's oidc-provider, which is certified, with a sign-in page of two fields.
//
// It takes from standard input, as JSON: `clients`, as oidc-provider names their settings; `people`: claims by subject,
// whose password is their subject; `clock`: seconds that it is ahead; `port`; `issuer`: whom it says it is, if not itself.
// It says its port in its first line.

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

// Its packages stand beside Python's, where this file does not.
const packages = createRequire(process.env.PACKAGES);
const { default: Provider } = await import(pathToFileURL(packages.resolve("oidc-provider")));

const { clients, people, clock, port, issuer } = JSON.parse(await text(process.stdin));
if (clock) {
  const now = Date.now;
  Date.now = () => now() + clock * 1000;
}

const page = (body) =>
  `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Provider</title><body>${body}`;

// Its own page would load a font from elsewhere.
const logoutSource = (context, form) => {
  context.body = page(`${form}<button form="op.logoutForm" name="logout" value="yes">Yes, sign me out</button>`);
};

const server = createServer();
server.listen(port, "127.0.0.1", () => {
  const provider = new Provider(issuer ?? `http://127.0.0.1:${server.address().port}`, {
    clients,
    claims: {
      openid: ["sub"],
      email: ["email", "email_verified"],
      profile: ["name"],
      groups: ["groups"],
    },
    scopes: ["openid", "email", "profile", "groups"],
    // As most providers do it, and unlike the letter of the standard: names and groups stand in the ID token.
    conformIdTokenClaims: false,
    cookies: { keys: ["of the tests"] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    findAccount: (_, id) => (id in people ? { accountId: id, claims: () => ({ sub: id, ...people[id] }) } : undefined),
    // No page that asks whether the app may know what it asks for.
    loadExistingGrant: async (context) => {
      const grant = new provider.Grant({
        clientId: context.oidc.client.clientId,
        accountId: context.oidc.session.accountId,
      });
      grant.addOIDCScope("openid email profile groups");
      await grant.save();
      return grant;
    },
    interactions: { url: (_, interaction) => `/sign-in/${interaction.uid}` },
  });
  const answer = provider.callback();
  server.on("request", async (request, response) => {
    if (!request.url.startsWith("/sign-in/")) return answer(request, response);
    if (request.method !== "POST") {
      response.setHeader("Content-Type", "text/html; charset=utf-8");
      return response.end(
        page(`<form method="post"><input name="login" aria-label="Login">
        <input name="password" type="password" aria-label="Password">
        <button>Continue</button> <button name="cancel" value="yes">Cancel</button></form>`),
      );
    }
    const form = new URLSearchParams(await text(request));
    const isRight = form.get("login") in people && form.get("password") === form.get("login");
    const result =
      form.has("cancel") || !isRight
        ? { error: "access_denied", error_description: "The user said no" }
        : { login: { accountId: form.get("login") } };
    await provider.interactionFinished(request, response, result);
  });
  console.log(server.address().port);
});
