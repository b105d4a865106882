/** Words that mean the same on pages, and words that people use for roles. */
tabhub.define("synonyms", () => {
  const SAME = [
    "login, log in, signin, sign in, log on, logon",
    "logout, log out, signout, sign out, log off",
    "signup, sign up, register, registration, join, create account",
    "cart, shopping cart, shopping bag, basket, bag, trolley, 🛒",
    "checkout, check out, pay, payment",
    "buy, purchase, order",
    "search, find, look up, lookup, magnifier, 🔍, 🔎",
    "delete, remove, trash, erase, bin, 🗑",
    "edit, modify, change, pencil, ✎, ✏",
    "add, create, new, plus, +, ➕",
    "save, store, apply",
    "send, submit, post",
    "cancel, abort, discard",
    "close, dismiss, hide, ×, ✕, ✖, ✗, ❌",
    "ok, okay, confirm, accept, agree, yes, ✓, ✔",
    "next, continue, forward, proceed, →, ›, »",
    "previous, back, prev, return, ←, ‹, «",
    "more, show more, load more, expand, ⋮, ⋯, •••, ...",
    "settings, preferences, options, gear, configuration, ⚙",
    "email, e mail, mail, ✉",
    "phone, telephone, mobile, cell",
    "password, passcode, passphrase",
    "username, user name, user id",
    "surname, last name, family name",
    "firstname, first name, given name",
    "postcode, zip, zip code, postal code",
    "help, support, faq",
    "account, profile, avatar",
    "menu, hamburger, ☰, ≡",
    "download, export, ⬇",
    "upload, attach, attachment",
    "picture, photo, image",
    "price, cost, amount",
    "language, locale",
    "home, homepage, start page, ⌂, 🏠",
    "message, chat, 💬",
    "notifications, alerts, bell, 🔔",
    "favorite, favourite, star, bookmark, wishlist, heart, ★, ☆, ♥, ♡",
    "filter, refine",
    "calendar, date",
    "reply, respond, answer",
    "comment, remark",
    "quantity, qty",
    "minus, decrease, −, -, –",
  ];
  const FIELDS = "textbox searchbox combobox spinbutton";
  /** @type {Record<string, string>} */
  const ROLES = {
    article: "article",
    box: `${FIELDS} checkbox`,
    button: "button",
    buttons: "button",
    canvas: "canvas",
    cell: "cell gridcell columnheader rowheader",
    checkbox: "checkbox switch menuitemcheckbox",
    checkboxes: "checkbox switch menuitemcheckbox",
    combobox: "combobox listbox",
    dialog: "dialog alertdialog",
    dropdown: "combobox listbox",
    field: FIELDS,
    fields: FIELDS,
    footer: "contentinfo",
    form: "form",
    frame: "iframe",
    header: "banner heading columnheader",
    heading: "heading",
    headings: "heading",
    icon: "img image",
    iframe: "iframe",
    image: "img image",
    images: "img image",
    input: FIELDS,
    inputs: FIELDS,
    link: "link",
    links: "link",
    list: "list listbox",
    logo: "img image",
    menu: "menu menubar combobox",
    nav: "navigation",
    navigation: "navigation",
    option: "option radio",
    picture: "img image",
    popup: "dialog alertdialog",
    radio: "radio",
    row: "row",
    select: "combobox listbox",
    slider: "slider",
    switch: "switch checkbox",
    tab: "tab",
    table: "table grid",
    tabs: "tab",
    text: "text heading",
    textarea: "textbox",
    textbox: FIELDS,
    toggle: "switch checkbox",
    video: "video",
  };
  /** Words that say nothing about the element. */
  const EMPTY =
    "a all an and any are at by can contains for from i in into is it its labeled labelled me my " +
    "named of on or page please s says that the their these this to where which with you your element " +
    "elements";
  /** Words for what a control does. */
  const ACTIONS =
    "add buy cancel close copy delete download duplicate edit filter move next open reject rename " +
    "reply save search select send share show toggle upload view";
  /** Words about the look of the page: a match helps, a mismatch does not hurt. */
  const SOFT =
    "big black blue bottom brown click current first gray green grey large last left little lower main " +
    "orange pink press primary purple red right second secondary small tap third top type upper visible white yellow";

  const list = (/** @type {string} */ words) => new Set(words.split(" "));

  /** @type {Map<string, number>} */
  const concepts = new Map();
  SAME.forEach((phrases, concept) => {
    for (const phrase of phrases.split(", ")) concepts.set(phrase, concept);
  });

  const roles = new Map(Object.entries(ROLES).map(([word, names]) => [word, list(names)]));
  /** @type {Set<string | number | undefined>} the words, and the numbers of their synonyms */
  const actions = new Set([...list(ACTIONS)].flatMap((word) => [word, concepts.get(word) ?? word]));
  return { actions, concepts, roles, empty: list(EMPTY), soft: list(SOFT) };
});
