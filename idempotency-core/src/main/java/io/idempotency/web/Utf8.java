package io.idempotency.web;

/** The strict form of UTF-8: no overlong sequences, no surrogates. */
final class Utf8 {

	private Utf8() {
	}

	/**
	 * The length of the valid sequence of two to four bytes at a place, 0 if there is
	 * none.
	 */
	static int lengthOfMultiByte(byte[] bytes, int position) {
		int first = at(bytes, position);
		int second = at(bytes, position + 1);
		if (first >= 0xC2 && first <= 0xDF) {
			return isContinuation(second) ? 2 : 0;
		}
		if (first >= 0xE0 && first <= 0xEF) {
			int lowest = (first == 0xE0) ? 0xA0 : 0x80;
			int highest = (first == 0xED) ? 0x9F : 0xBF;
			boolean valid = second >= lowest && second <= highest && isContinuation(at(bytes, position + 2));
			return valid ? 3 : 0;
		}
		if (first >= 0xF0 && first <= 0xF4) {
			int lowest = (first == 0xF0) ? 0x90 : 0x80;
			int highest = (first == 0xF4) ? 0x8F : 0xBF;
			boolean valid = second >= lowest && second <= highest && isContinuation(at(bytes, position + 2))
					&& isContinuation(at(bytes, position + 3));
			return valid ? 4 : 0;
		}
		return 0;
	}

	private static int at(byte[] bytes, int position) {
		return (position < bytes.length) ? bytes[position] & 0xFF : -1;
	}

	private static boolean isContinuation(int value) {
		return value >= 0x80 && value <= 0xBF;
	}

	static void write(int codePoint, ByteSink sink) {
		if (codePoint < 0x80) {
			sink.write(codePoint);
		}
		else if (codePoint < 0x800) {
			sink.write(0xC0 | codePoint >> 6);
			sink.write(0x80 | codePoint & 0x3F);
		}
		else if (codePoint < 0x10000) {
			sink.write(0xE0 | codePoint >> 12);
			sink.write(0x80 | codePoint >> 6 & 0x3F);
			sink.write(0x80 | codePoint & 0x3F);
		}
		else {
			sink.write(0xF0 | codePoint >> 18);
			sink.write(0x80 | codePoint >> 12 & 0x3F);
			sink.write(0x80 | codePoint >> 6 & 0x3F);
			sink.write(0x80 | codePoint & 0x3F);
		}
	}

}
