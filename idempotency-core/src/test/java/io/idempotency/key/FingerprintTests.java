package io.idempotency.key;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class FingerprintTests {

	/** Records hold fingerprints: what they are made of must never change by itself. */
	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 250, 255, 256, 257, 504, 508, 511, 512, 513, 5000 })
	void isTheDigestOfItsPartsEachAfterItsLength(int length) throws Exception {
		String ascii = "x".repeat(length);
		String text = "ä".repeat(length);
		byte[] bytes = new byte[length];
		Arrays.fill(bytes, (byte) 7);
		Fingerprint fingerprint = Fingerprint.of("test1")
			.add(ascii)
			.add("end")
			.add(text)
			.add((String) null)
			.add(bytes)
			.add(ByteBuffer.wrap(bytes))
			.build();
		byte[] expected = digest(ascii.getBytes(StandardCharsets.UTF_8), "end".getBytes(StandardCharsets.UTF_8),
				text.getBytes(StandardCharsets.UTF_8), null, bytes, bytes);
		assertThat(fingerprint.toBytes()).endsWith(expected).startsWith(5, 't', 'e', 's', 't', '1').hasSize(38);
	}

	@Test
	void manyShortPartsAreDigestedAsTheyAre() throws Exception {
		for (int shift = 0; shift < 9; shift++) {
			Fingerprint.Builder fingerprint = Fingerprint.of("test1");
			byte[][] parts = new byte[400][];
			for (int i = 0; i < parts.length; i++) {
				String part = "x".repeat((i + shift) % 9);
				parts[i] = part.getBytes(StandardCharsets.UTF_8);
				fingerprint.add(part);
			}
			assertThat(fingerprint.build().toBytes()).endsWith(digest(parts));
		}
	}

	@Test
	void firstFingerprintOfAThreadIsLikeAnyOther() throws Exception {
		FutureTask<Fingerprint> made = new FutureTask<>(() -> Fingerprint.of("test1").add("a").build());
		new Thread(made).start();
		assertThat(made.get()).isEqualTo(Fingerprint.of("test1").add("a").build());
	}

	@ParameterizedTest
	@ValueSource(strings = { "a", "test1", "sixteen letters!" })
	void storedFormIsReadAgain(String algorithm) {
		Fingerprint fingerprint = Fingerprint.of(algorithm).add("a").build();
		Fingerprint read = Fingerprint.fromBytes(fingerprint.toBytes());
		assertThat(read).isEqualTo(fingerprint).hasSameHashCodeAs(fingerprint).hasToString(algorithm);
		assertThat(read.hashCode()).isNotZero();
		assertThat(read.isNone()).isFalse();
		assertThat(Fingerprint.fromBytes(Fingerprint.NONE.toBytes())).isSameAs(Fingerprint.NONE);
	}

	@Test
	void bytesThatAreNoFingerprintAreRefused() {
		byte[] tooLong = new byte[60];
		tooLong[0] = 17;
		for (byte[] bytes : List.of(new byte[] { 0, 1, 2 }, new byte[] { -1, 1, 2 }, new byte[] { 1, 'a' },
				new byte[] { 2, 'a', 'b' }, tooLong)) {
			assertThatIllegalArgumentException().isThrownBy(() -> Fingerprint.fromBytes(bytes));
		}
		assertThat(Fingerprint.fromBytes(new byte[] { 1, 'a', 7 })).hasToString("a");
	}

	@Test
	void onlyTheSameValuesOfTheSameAlgorithmMatch() {
		Fingerprint one = Fingerprint.of("test1").add("a").build();
		assertThat(one.matches(Fingerprint.of("test1").add("a").build())).isTrue();
		for (Fingerprint other : List.of(Fingerprint.of("test1").add("b").build(),
				Fingerprint.of("test2").add("a").build())) {
			assertThat(one.matches(other)).isFalse();
			assertThat(one).isNotEqualTo(other);
		}
		assertThat(one.matches(Fingerprint.NONE)).isTrue();
		assertThat(Fingerprint.NONE.matches(one)).isTrue();
		assertThat(one).isNotEqualTo("test1");
	}

	@Test
	void fingerprintsThatAreMadeAtOneTimeInOneThreadDoNotMix() throws Exception {
		Fingerprint.Builder outer = Fingerprint.of("test1").add("a");
		Fingerprint.Builder inner = Fingerprint.of("test1").add("b");
		Fingerprint first = inner.add("c").build();
		Fingerprint second = outer.add("d").build();
		assertThat(first.toBytes()).endsWith(digest(new byte[] { 'b' }, new byte[] { 'c' }));
		assertThat(second.toBytes()).endsWith(digest(new byte[] { 'a' }, new byte[] { 'd' }));
	}

	@Test
	void oneThatWasGivenUpHalfwayLeavesNothingBehind() throws Exception {
		Fingerprint.of("test1").add("never built");
		assertThat(Fingerprint.of("test1").add("a").build().toBytes()).endsWith(digest(new byte[] { 'a' }));
	}

	@Test
	void builderIsUsedOnce() {
		Fingerprint.Builder builder = Fingerprint.of("test1").add("a");
		builder.build();
		assertThatIllegalStateException().isThrownBy(() -> builder.add("b"));
		assertThatIllegalStateException().isThrownBy(builder::build);
	}

	@Test
	void nameOfTheAlgorithmIsShortAndAscii() {
		for (String name : List.of("", "ä", "\u0080", "seventeen letters")) {
			assertThatIllegalArgumentException().isThrownBy(() -> Fingerprint.of(name)).withMessageContaining(name);
		}
		assertThat(Fingerprint.of("sixteen letters!").add("a").build().toBytes()).hasSize(49);
	}

	@Test
	void keyIsTheDigestOfItsComponents() throws Exception {
		IdempotencyKey key = new Namespace("shop").key("pay", Caller.GLOBAL, List.of("a", "b"));
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream out = new DataOutputStream(bytes);
		for (String part : List.of("namespace and key", "shop", "pay", Caller.GLOBAL.kind().name(),
				Caller.GLOBAL.name())) {
			write(out, part.getBytes(StandardCharsets.UTF_8));
		}
		out.writeInt(2);
		write(out, new byte[] { 'a' });
		write(out, new byte[] { 'b' });
		assertThat(key.hashHex()).as("the id of no caller, then the digest")
			.isEqualTo("0".repeat(24) + HexFormat.of().formatHex(sha256(bytes.toByteArray()), 0, 20));
	}

	private static byte[] digest(byte[]... parts) throws Exception {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		DataOutputStream out = new DataOutputStream(bytes);
		for (byte[] part : parts) {
			write(out, part);
		}
		return sha256(bytes.toByteArray());
	}

	private static void write(DataOutputStream out, byte[] part) throws IOException {
		out.writeInt((part != null) ? part.length : -1);
		if (part != null) {
			out.write(part);
		}
	}

	private static byte[] sha256(byte[] bytes) throws NoSuchAlgorithmException {
		return MessageDigest.getInstance("SHA-256").digest(bytes);
	}

}
