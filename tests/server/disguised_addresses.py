"""Addresses that look like one site and lead to another. The browser's reading counts."""

INTO_THE_BANK = [
    # plain, without a scheme, with a port, with a dot at the end
    *("https://bank.example", "http://bank.example:8080/", "bank.example", "BANK.EXAMPLE:443"),
    *("www.bank.example/x", "https://bank.example.", "https://www.bank.example.:443/"),
    # too many, too few and backward slashes
    *("https:bank.example", "https:/bank.example", "https:////bank.example", "hTTps:bank.example"),
    *("https:\\\\bank.example", "https:/\\bank.example/", "https://bank.example\\@a.example"),
    *("https://bank.example\\.a.example", "https://bank.example?@a.example"),
    *("//bank.example", "\\\\bank.example", "/\\bank.example"),
    # names and passwords
    *("https://a.example@bank.example", "https://a.example:443@bank.example/"),
    *("https://a.example%2f@bank.example", "https://a@b@bank.example", "a.example@bank.example"),
    # characters that a browser drops
    *("ht\ttps://bank.example", "https:\n//bank.example", "https://ba\tnk.example"),
    *("https://bank.exa\r\nmple", "\thttps://bank.example\n", "\x00https://bank.example"),
    *("\x1fbank.example", " bank.example ", "\u00a0bank.example", "\ufeffbank.example"),
    # percent signs
    *("https://%62ank.example", "https://bank%2eexample", "https://%62%61nk.ex%61mple"),
    # other letters with the same meaning
    *("https://bank%E3%80%82example", "https://bank\u3002example", "https://bank\uff61example"),
    *("https://\uff42\uff41\uff4e\uff4b.example", "https://\U0001d41bank.example"),
    *("https://ba\u00adnk.example", "https://ba\u200bnk.example", "https://\u24d1ank.example"),
    *("https://bücher.example", "https://BU\u0308CHER.example", "https://b%C3%BCcher.example"),
    *("https://xn--bcher-kva.example", "https://XN--BCHER-KVA.example."),
    # pages that belong to the bank
    *("blob:https://bank.example/1-2", "BLOB:https://bank.example/1-2"),
    # IP addresses
    *("http://127.1", "http://2130706433", "http://0x7f000001", "http://017700000001"),
    *("127.0.0.1:8080", "http://0177.1", "http://127.0.0.1.", "http://%31%32%37.0.0.1"),
    *("http://\uff11\uff12\uff17.0.0.1", "http://[::1]:80", "http://[0:0:0:0:0:0:0:1]/"),
    *("[::1]:9515", "http://a@127.0.0.1:80/"),
    # schemes around the address
    *("view-source:https://bank.example", "javascript:location='https://bank.example'"),
    *("file://bank.example/x", "filesystem:https://bank.example/temporary/x"),
    *("JAVASCRIPT:location='//bank.example'", "java\tscript:location='//bank.example'"),
]
"""All lead to bank.example, bücher.example, this machine or no host."""

NOT_THE_BANK = [
    *(
        "https://bank.example.a.example/",
        "https://a.example/bank.example",
        "a.example#bank.example",
    ),
    *("https://a.example/?u=https://bank.example", "https://bank.example@a.example/"),
    *("https://mybank.example/", "https://bank-example.com/", "http://127.0.0.2/"),
]

INTO_A = ["https://a.example/", "A.example:443", "https://evil.example@a.example/"]
OUT_OF_A = [
    *("https://evil.example", "evil.example", "https://a.example.evil.example", "xa.example"),
    *("https://a.example@evil.example", "https://a.example:x@evil.example/"),
    *("https://evil.example\\@a.example", "https://evil.example#@a.example"),
    *("https://evil.example/@a.example", "https://a.example%2f@evil.example"),
    *("https://a.example%00.evil.example", "https://a.example\t.evil.example"),
    *("a.example.evil.example.", "evil.example?a.example", "https://xn--a-ecp.example", "http://1"),
    *("data:text/html,<script>location='//evil.example'</script>", "blob:null/1"),
    *("blob:https://evil.example/1", "blob:https://a.example@evil.example/1"),
]
