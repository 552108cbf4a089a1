package io.idempotency.store;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class ClaimOriginTests {

	@ParameterizedTest
	@ValueSource(strings = { "", "node-1:7", "node-1:7 0af7651916cd43dd8448eb211c80319c b7ad6b7169203331",
			" 0af7651916cd43dd8448eb211c80319c b7ad6b7169203331" })
	void textIsReadAgain(String text) {
		assertThat(ClaimOrigin.parse(text)).hasToString(text);
	}

	@Test
	void longestTextHasTheMaximalLength() {
		ClaimOrigin longest = new ClaimOrigin("n".repeat(64), "t".repeat(32), "s".repeat(16));
		assertThat(longest.toString()).hasSize(ClaimOrigin.MAX_LENGTH);
		assertThat(ClaimOrigin.parse(longest.toString())).isEqualTo(longest);
	}

	@ParameterizedTest
	@ValueSource(strings = { "a b", "a b c d", "a  b", "ä", "a zz! 7", "\n" })
	void textThatIsNoOriginIsUnknown(String text) {
		assertThat(ClaimOrigin.parse(text)).isEqualTo(ClaimOrigin.UNKNOWN);
	}

	@Test
	void storeWithoutOriginsGivesUnknown() {
		assertThat(ClaimOrigin.parse(null)).isSameAs(ClaimOrigin.UNKNOWN);
		assertThat(ClaimOrigin.UNKNOWN.node()).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "two words,,", "kn\u00f6ten,,", "node,abc,", "node,,abc", "node,'',abc", "node,abc,''", "node,a-b,abc",
			"node,abc,a b", "node,000000000000000000000000000000000,abc", "node,abc,00000000000000000" })
	void componentThatCannotBeWrittenIsRejected(String node, String trace, String span) {
		assertThatIllegalArgumentException().isThrownBy(() -> new ClaimOrigin(node, trace, span));
	}

	@Test
	void originWithinASpanKeepsItsNode() {
		assertThat(new ClaimOrigin("node", null, null).in("abc", "def"))
			.isEqualTo(new ClaimOrigin("node", "abc", "def"));
	}

}
