package io.idempotency.store.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ReturnType;

/**
 * The verbs of the store, each with its Lua script.
 */
enum Verb {

	CLAIM(ReturnType.MULTI, "claim-usual.lua"),

	COMPLETE(ReturnType.INTEGER, "complete-usual.lua"),

	RELEASE(ReturnType.INTEGER),

	RENEW(ReturnType.INTEGER),

	ISSUE(ReturnType.INTEGER),

	FIND(ReturnType.MULTI),

	SCAN(ReturnType.MULTI),

	EVICT(ReturnType.INTEGER);

	private final ReturnType returnType;

	private final String text;

	private final byte[] script;

	private final String sha1;

	Verb(ReturnType returnType) {
		this(returnType, null);
	}

	/**
	 * Creates a verb.
	 * @param usual the part of the script that answers the usual calls, {@code null} for
	 * none
	 */
	Verb(ReturnType returnType, @Nullable String usual) {
		this.returnType = returnType;
		this.text = read("start.lua") + ((usual != null) ? read(usual) : "") + read("record.lua")
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
