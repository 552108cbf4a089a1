package io.idempotency.samples.shop.messages;

import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/**
 * Delivers the message of an order as often as the request header {@value #HEADER} asks
 * for, as after failures of producer and broker. For demonstrations only.
 */
@Component
class DemoDeliveries {

	static final String HEADER = "X-Demo-Deliveries";

	private static final int MOST = 10;

	/**
	 * Returns the number of deliveries that the current request asks for, one by default.
	 */
	int asked() {
		if (!(RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes attributes)) {
			return 1;
		}
		String asked = attributes.getRequest().getHeader(HEADER);
		return (asked != null && asked.matches("[1-9][0-9]?")) ? Math.min(Integer.parseInt(asked), MOST) : 1;
	}

}
