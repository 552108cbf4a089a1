package io.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;

import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/** Sends redirects with any status. Servlet 6.1 has a method for such redirects. */
final class Redirects {

	private static final @Nullable Method METHOD = ReflectionUtils.findMethod(HttpServletResponse.class, "sendRedirect",
			String.class, int.class, boolean.class);

	private Redirects() {
	}

	/**
	 * Sends a redirect as the container does.
	 * @param response the container's response
	 * @param location the target
	 * @param status the status code
	 * @param clearBuffer whether the body is dropped
	 * @throws IOException if the redirect could not be sent
	 */
	static void send(HttpServletResponse response, String location, int status, boolean clearBuffer)
			throws IOException {
		send(METHOD, response, location, status, clearBuffer);
	}

	/**
	 * Sends a redirect with a method of the response.
	 * @param method the method of Servlet 6.1, {@code null} if the response does not have
	 * it
	 */
	static void send(@Nullable Method method, HttpServletResponse response, String location, int status,
			boolean clearBuffer) throws IOException {
		if (status == HttpServletResponse.SC_FOUND && clearBuffer) {
			response.sendRedirect(location);
		}
		else if (method == null) {
			response.setStatus(status);
			response.setHeader("Location", location);
		}
		else {
			try {
				ReflectionUtils.invokeMethod(method, response, location, status, clearBuffer);
			}
			catch (UndeclaredThrowableException ex) {
				if (ex.getCause() instanceof IOException failure) {
					throw failure;
				}
				throw ex;
			}
		}
	}

}
