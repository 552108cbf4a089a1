package io.idempotency.codec;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class AesGcmResultCipherTests {

	private static final byte[] RECORD = bytes("record 1");

	private static final byte[] SECRET = bytes("the PIN is 1234");

	private final AesGcmResultCipher cipher = new AesGcmResultCipher("k1", Map.of("k1", key(1, 32)));

	@ParameterizedTest
	@ValueSource(ints = { 16, 24, 32 })
	void everyKeyLengthOfAesGivesTheResultBack(int length) {
		AesGcmResultCipher own = new AesGcmResultCipher("k1", Map.of("k1", key(1, length)));
		assertThat(own.decrypt(own.encrypt(SECRET, RECORD), RECORD)).isEqualTo(SECRET);
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 15, 16, 17, 1_048_576 })
	void everyLengthOfAResultIsGivenBack(int length) {
		byte[] result = new byte[length];
		new Random(length).nextBytes(result);
		byte[] encrypted = this.cipher.encrypt(result, RECORD);
		assertThat(encrypted).hasSize(2 + "k1".length() + 12 + length + 16);
		assertThat(this.cipher.decrypt(encrypted, RECORD)).isEqualTo(result);
	}

	@Test
	void beginsWithTheIdOfItsKeyAndHoldsNothingOfTheResult() {
		String written = new String(this.cipher.encrypt(SECRET, RECORD), StandardCharsets.ISO_8859_1);
		assertThat(written).startsWith("\u0001\u0002k1").doesNotContain("PIN").doesNotContain("1234");
	}

	@Test
	void changeOfAnyBitIsNoticed() {
		byte[] encrypted = this.cipher.encrypt(SECRET, RECORD);
		for (int i = 0; i < encrypted.length * 8; i++) {
			byte[] changed = encrypted.clone();
			changed[i / 8] ^= (byte) (1 << i % 8);
			assertUnreadable(this.cipher, changed, RECORD);
		}
	}

	@Test
	void resultThatWasCutOrMadeLongerIsNoticed() {
		byte[] encrypted = this.cipher.encrypt(SECRET, RECORD);
		for (int length = 0; length < encrypted.length; length++) {
			assertUnreadable(this.cipher, Arrays.copyOf(encrypted, length), RECORD);
		}
		assertUnreadable(this.cipher, Arrays.copyOf(encrypted, encrypted.length + 1), RECORD);
	}

	@Test
	void resultOfAnotherRecordIsNoticed() {
		byte[] encrypted = this.cipher.encrypt(SECRET, RECORD);
		assertUnreadable(this.cipher, encrypted, bytes("record 2"));
		assertUnreadable(this.cipher, encrypted, new byte[0]);
	}

	@Test
	void headAndContextAreNotOneText() {
		AesGcmResultCipher longer = new AesGcmResultCipher("k1r", Map.of("k1r", key(1, 32), "k1", key(1, 32)));
		byte[] encrypted = longer.encrypt(SECRET, bytes("ecord 1"));
		byte[] moved = ByteBuffer.allocate(encrypted.length - 1)
			.put(new byte[] { 1, 2 })
			.put(bytes("k1"))
			.put(encrypted, 5, encrypted.length - 5)
			.array();
		assertUnreadable(longer, moved, RECORD);
	}

	@Test
	void keyOfTheSameIdThatDiffersIsNoticed() {
		AesGcmResultCipher other = new AesGcmResultCipher("k1", Map.of("k1", key(2, 32)));
		assertThat(unreadable(other, this.cipher.encrypt(SECRET, RECORD), RECORD))
			.hasMessageContaining("a different key 'k1'");
	}

	@Test
	void idOfAnotherKeyIsNoticedAlsoWhereThatKeyIsTheSame() {
		AesGcmResultCipher twins = new AesGcmResultCipher("k1", Map.of("k1", key(1, 32), "k2", key(1, 32)));
		byte[] encrypted = twins.encrypt(SECRET, RECORD);
		encrypted[3] = '2';
		assertUnreadable(twins, encrypted, RECORD);
	}

	@Test
	void unknownKeyIsNamed() {
		AesGcmResultCipher other = new AesGcmResultCipher("k2", Map.of("k2", key(1, 32)));
		assertThat(unreadable(other, this.cipher.encrypt(SECRET, RECORD), RECORD)).hasMessageContaining("'k1'");
	}

	@Test
	void keyIdThatIsNoneIsNotPrinted() {
		byte[] forged = new byte[60];
		forged[0] = 1;
		forged[1] = 20;
		Arrays.fill(forged, 2, 22, (byte) '\n');
		assertThat(unreadable(this.cipher, forged, RECORD)).hasMessage("it does not begin with the id of a key");
	}

	@Test
	void everyKeyDecryptsAndTheChosenOneEncrypts() {
		Map<String, byte[]> keys = new LinkedHashMap<>();
		keys.put("k2", key(2, 32));
		keys.put("k1", key(1, 32));
		AesGcmResultCipher rotated = new AesGcmResultCipher("k2", keys);
		assertThat(rotated.decrypt(this.cipher.encrypt(SECRET, RECORD), RECORD)).isEqualTo(SECRET);
		byte[] encrypted = rotated.encrypt(SECRET, RECORD);
		assertThat(rotated.decrypt(encrypted, RECORD)).isEqualTo(SECRET);
		assertUnreadable(this.cipher, encrypted, RECORD);
		AesGcmResultCipher retired = new AesGcmResultCipher("k2", Map.of("k2", key(2, 32)));
		assertThat(retired.decrypt(encrypted, RECORD)).isEqualTo(SECRET);
	}

	@Test
	void nonceIsNeverUsedTwice() {
		Set<ByteBuffer> nonces = new HashSet<>();
		for (int i = 0; i < 20_000; i++) {
			nonces.add(ByteBuffer.wrap(this.cipher.encrypt(SECRET, RECORD), 4, 12));
		}
		assertThat(nonces).hasSize(20_000);
	}

	@Test
	void keysAreCopied() {
		byte[] key = key(1, 32);
		AesGcmResultCipher own = new AesGcmResultCipher("k1", Map.of("k1", key));
		Arrays.fill(key, (byte) 0);
		assertThat(own.decrypt(this.cipher.encrypt(SECRET, RECORD), RECORD)).isEqualTo(SECRET);
	}

	@Test
	void printsTheIdsAlone() {
		assertThat(this.cipher).hasToString("AES-GCM with the keys [k1], active key 'k1'");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 15, 17, 31, 33, 64 })
	void keyOfAnotherLengthIsRejected(int length) {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new AesGcmResultCipher("k1", Map.of("k1", key(1, length))))
			.withMessage("A key must have 16, 24 or 32 bytes, not " + length);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "schlüssel", "a/b", "AAAAAAAAAAAAAAAAAAAAAA" })
	void idThatIsNoneIsRejectedAndNotPrinted(String id) {
		assertThatIllegalArgumentException().isThrownBy(() -> new AesGcmResultCipher(id, Map.of(id, key(1, 32))))
			.withMessage("A key id must be 1 to 20 letters, digits, '.', '-' or '_'");
	}

	@Test
	void keyThatEncryptsMustBeThere() {
		assertThatIllegalArgumentException().isThrownBy(() -> new AesGcmResultCipher("k2", Map.of("k1", key(1, 32))));
	}

	private static void assertUnreadable(AesGcmResultCipher cipher, byte[] encrypted, byte[] context) {
		assertThat(unreadable(cipher, encrypted, context)).isNotNull();
	}

	private static UnreadableResultException unreadable(AesGcmResultCipher cipher, byte[] encrypted, byte[] context) {
		return assertThatExceptionOfType(UnreadableResultException.class)
			.isThrownBy(() -> cipher.decrypt(encrypted, context))
			.actual();
	}

	private static byte[] key(int seed, int length) {
		byte[] key = new byte[length];
		new Random(seed).nextBytes(key);
		return key;
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
