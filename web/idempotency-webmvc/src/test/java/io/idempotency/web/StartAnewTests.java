package io.idempotency.web;

import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** An answer that is thrown away, because its commit has failed. */
class StartAnewTests {

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@Test
	void keepsTheEncodingThatAnOuterFilterHasForced() {
		this.response.setCharacterEncoding("UTF-8");
		BufferingResponse held = held();
		held.setCharacterEncoding("UTF-16");
		held.startAnew(null);
		assertThat(this.response.getCharacterEncoding()).isEqualTo("UTF-8");
	}

	@Test
	void namesNoEncodingThatNobodyHasSet() {
		BufferingResponse held = held();
		held.setCharacterEncoding("UTF-16");
		held.startAnew(null);
		this.response.setContentType("application/json");
		assertThat(this.response.getContentType()).isEqualTo("application/json");
	}

	private BufferingResponse held() {
		BufferingResponse held = new BufferingResponse(this.response);
		held.hold(1000);
		return held;
	}

}
