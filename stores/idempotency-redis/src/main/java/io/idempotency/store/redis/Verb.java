package io.idempotency.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Locale;
import java.util.stream.Collectors;

import org.springframework.data.redis.connection.ReturnType;

/**
 * The verbs of the store, each with its Lua script.
 */
enum Verb {

	CLAIM(ReturnType.VALUE, "claim-usual.lua", "record.lua"),

	COMPLETE(ReturnType.INTEGER, "complete-usual.lua", "record.lua"),

	RELEASE(ReturnType.INTEGER, "record.lua"),

	RENEW(ReturnType.INTEGER, "record.lua"),

	ISSUE(ReturnType.INTEGER, "record.lua"),

	FIND(ReturnType.MULTI, "record.lua"),

	SCAN(ReturnType.MULTI, "record.lua"),

	EVICT(ReturnType.INTEGER, "record.lua");

	private final ReturnType returnType;

	private final String text;

	private final byte[] script;

	private final String sha1;

	/**
	 * Creates a verb.
	 * @param parts what stands between the start of the script and its own part
	 */
	Verb(ReturnType returnType, String... parts) {
		this.returnType = returnType;
		this.text = read("start.lua") + Arrays.stream(parts).map(Verb::read).collect(Collectors.joining())
				+ read(toString() + ".lua");
		this.script = this.text.getBytes(StandardCharsets.UTF_8);
		this.sha1 = sha1(this.script);
	}

	private static String read(String resource) {
		try (InputStream stream = Verb.class.getResourceAsStream(resource)) {
			if (stream == null) {
				throw new IllegalStateException("No resource " + resource + " beside " + Verb.class.getName());
			}
			return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Redis names scripts by SHA-1. */
	private static String sha1(byte[] script) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(script));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

	ReturnType returnType() {
		return this.returnType;
	}

	String text() {
		return this.text;
	}

	byte[] script() {
		return this.script;
	}

	String sha1() {
		return this.sha1;
	}

	/** Returns the verb as messages show it. */
	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
