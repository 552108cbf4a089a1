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
		byte[] expected = digest("test1".getBytes(StandardCharsets.US_ASCII), ascii.getBytes(StandardCharsets.UTF_8),
				"end".getBytes(StandardCharsets.UTF_8), text.getBytes(StandardCharsets.UTF_8), null, bytes, bytes);
		assertThat(fingerprint.toBytes()).isEqualTo(expected);
	}

	@Test
	void manyShortPartsAreDigestedAsTheyAre() throws Exception {
		for (int shift = 0; shift < 9; shift++) {
			Fingerprint.Builder fingerprint = Fingerprint.of("test1");
			byte[][] parts = new byte[400][];
			parts[0] = "test1".getBytes(StandardCharsets.US_ASCII);
			for (int i = 1; i < parts.length; i++) {
				String part = "x".repeat((i + shift) % 9);
				parts[i] = part.getBytes(StandardCharsets.UTF_8);
				fingerprint.add(part);
			}
			assertThat(fingerprint.build().toBytes()).isEqualTo(digest(parts));
		}
	}

	@Test
	void firstFingerprintOfAThreadIsLikeAnyOther() throws Exception {
		FutureTask<Fingerprint> made = new FutureTask<>(() -> Fingerprint.of("test1").add("a").build());
		new Thread(made).start();
		assertThat(made.get()).isEqualTo(Fingerprint.of("test1").add("a").build());
	}

	@Test
	void storedFormIsReadAgain() {
		Fingerprint fingerprint = Fingerprint.of("test1").add("a").build();
		Fingerprint read = Fingerprint.fromBytes(fingerprint.toBytes());
		assertThat(read).isEqualTo(fingerprint).hasSameHashCodeAs(fingerprint).hasToString("fingerprint");
		assertThat(read.toBytes()).isEqualTo(fingerprint.toBytes()).hasSize(32);
		assertThat(read.hashCode()).isNotZero();
		assertThat(read.isNone()).isFalse();
		assertThat(Fingerprint.fromBytes(Fingerprint.NONE.toBytes())).isSameAs(Fingerprint.NONE);
	}

	@Test
	void bytesThatAreNoFingerprintAreRejected() {
		for (int length : List.of(1, 31, 33, 38)) {
			assertThatIllegalArgumentException().isThrownBy(() -> Fingerprint.fromBytes(new byte[length]))
				.withMessageContaining("" + length);
		}
	}

	@Test
	void partsAreTheBytes() {
		Fingerprint fingerprint = Fingerprint.of("test1").add("a").build();
		ByteBuffer digest = ByteBuffer.wrap(fingerprint.toBytes());
		IdempotencyKey key = IdempotencyKey.of("pay", Caller.principal("alice"), "a");
		ByteBuffer hash = ByteBuffer.wrap(key.hash());
		for (int i = 0; i < 4; i++) {
			assertThat(fingerprint.part(i)).isEqualTo(digest.getLong());
			assertThat(key.hashPart(i)).isEqualTo(hash.getLong());
			assertThat(Fingerprint.NONE.part(i)).isZero();
		}
	}

	@Test
	void eachBitCounts() {
		byte[] bytes = Fingerprint.of("test1").add("a").build().toBytes();
		for (int bit = 0; bit < 8 * bytes.length; bit++) {
			byte[] other = bytes.clone();
			other[bit / 8] ^= (byte) (1 << bit % 8);
			assertThat(Fingerprint.fromBytes(other).matches(Fingerprint.fromBytes(bytes))).as("bit %s", bit).isFalse();
			assertThat(Fingerprint.fromBytes(other)).isNotEqualTo(Fingerprint.fromBytes(bytes));
		}
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
		assertThat(first).isEqualTo(Fingerprint.of("test1").add("b").add("c").build());
		assertThat(second).isEqualTo(Fingerprint.of("test1").add("a").add("d").build());
	}

	@Test
	void oneThatWasGivenUpHalfwayLeavesNothingBehind() throws Exception {
		Fingerprint.of("test1").add("never built");
		assertThat(Fingerprint.of("a").add("b").build().toBytes())
			.isEqualTo(digest(new byte[] { 'a' }, new byte[] { 'b' }));
	}

	@Test
	void builderIsUsedOnce() {
		Fingerprint.Builder builder = Fingerprint.of("test1").add("a");
		builder.build();
		assertThatIllegalStateException().isThrownBy(() -> builder.add("b"));
		assertThatIllegalStateException().isThrownBy(builder::build);
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
