package io.idempotency.key;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FingerprintDigestTests {

	/** The example of FIPS 180-2. */
	@Test
	void isTheDigestOfTheGivenBytes() {
		byte[] bytes = "xabcx".getBytes(StandardCharsets.US_ASCII);
		MessageDigest digest = Fingerprint.sha256();
		digest.update(bytes, 1, 3);
		assertThat(HexFormat.of().formatHex(digest.digest()))
			.isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	}

}
