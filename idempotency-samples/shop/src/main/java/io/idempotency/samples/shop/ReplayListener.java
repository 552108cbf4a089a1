package io.idempotency.samples.shop;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import jakarta.servlet.http.HttpServletRequest;

import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Marks the requests whose response was a stored result, for the {@link CallLog}. It also
 * marks replays in a service, because no response header shows them.
 */
@Component
class ReplayListener implements IdempotencyListener {

	private static final String REPLAYED = ReplayListener.class.getName() + ".REPLAYED";

	@Override
	public void onEvent(IdempotencyEvent event, String operation) {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		if (request != null && (event == IdempotencyEvent.REPLAYED || event == IdempotencyEvent.RECOVERED)) {
			request.setAttribute(REPLAYED, Boolean.TRUE, RequestAttributes.SCOPE_REQUEST);
		}
	}

	static boolean isReplay(HttpServletRequest request) {
		return request.getAttribute(REPLAYED) != null;
	}

}
